import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { RecordBatchFileWriter, RecordBatchReader } from "apache-arrow";

/** Copies an Arrow IPC stream to an Arrow file, batch by batch. */
export async function arrowFileOfStream(streamPath: string, path: string): Promise<void> {
  const reader = await RecordBatchReader.from(createReadStream(streamPath));
  const writer = new RecordBatchFileWriter();
  const written = pipeline(writer.toNodeStream(), createWriteStream(path));
  for await (const batch of reader) writer.write(batch);
  writer.close();
  await written;
}
