/** A process that adds records to a ledger until it is killed, and says each time how many are there: `PATH SEED`. */
import { writeSync } from "node:fs";
import { Ledger } from "../../../src/jobs/ledger/ledger.ts";
import { RandomRecords } from "./random_records.ts";

const [path, seed] = process.argv.slice(2) as [string, string];
const records = new RandomRecords(Number(seed));
const ledger = await Ledger.open(path, "bars", "write");
for (let count = 1; ; count += 1) {
  records.next()(ledger);
  writeSync(1, `${count}\n`);
}
