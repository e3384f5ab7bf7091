import { LIVES } from "./life_rows.ts";
import { testLives } from "./test_lives.ts";

testLives(LIVES);
