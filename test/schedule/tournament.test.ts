import fc from "fast-check";
import { expect, test } from "vitest";
import { Tournament } from "../../src/schedule/tournament.ts";

test("the first least key is found after any changes; infinite keys never win", () => {
  const key = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constant(Number.POSITIVE_INFINITY));
  const changes = fc.array(fc.tuple(fc.nat(), key), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), changes, (placeCount, drawn) => {
      const tournament = new Tournament(placeCount);
      const keys = new Array<number>(placeCount).fill(Number.POSITIVE_INFINITY);
      expect(tournament.first).toBeNull();
      for (const [pick, key] of drawn) {
        tournament.set(pick % placeCount, key);
        keys[pick % placeCount] = key;
        const least = Math.min(...keys);
        if (least === Number.POSITIVE_INFINITY) expect(tournament.first).toBeNull();
        else expect(tournament.first).toBe(keys.indexOf(least));
      }
    }),
  );
});

test("among no places there is no first", () => {
  expect(new Tournament(0).first).toBeNull();
});
