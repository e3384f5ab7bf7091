import { LIVES_OF_PARAMS } from "./life_rows.ts";
import { testLives } from "./test_lives.ts";

testLives(LIVES_OF_PARAMS);
