import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { hasDask } from "../support/needs.ts";
import { listening, refusal } from "./support/refusal.ts";

/** What stands where a scheduler should be, and whether certificates fit. */
describe.runIf(await hasDask())("an address without a scheduler", () => {
  test("an HTTP server is recognised at once", async () => {
    const server = createHttpServer((_, answer) => answer.end("hello"));
    const port = await listening(server);
    const { message, seconds } = await refusal(`tcp://127.0.0.1:${port}`, { timeoutSeconds: 60 });
    server.closeAllConnections();
    server.close();
    expect(message).toMatch(
      /^E603 .*: an HTTP server answers there\n {2}give the port of the scheduler, 8786/,
    );
    expect(seconds).toBeLessThan(30);
  });

  test("another protocol is recognised", async () => {
    const server = createServer((socket) => socket.end("220 mail.example.org ESMTP\r\n"));
    const port = await listening(server);
    const { message } = await refusal(`tcp://127.0.0.1:${port}`, { timeoutSeconds: 60 });
    server.close();
    expect(message).toMatch(/^E603 .*: what answers there is not a Dask scheduler \('220 mail\.example\.org/);
  });
});
