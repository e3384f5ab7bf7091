import type { ChromeEvent } from "./chrome_trace.ts";

/** Where the events of a trace go. */
export interface EventSink {
  /** Appends events. @throws ResourceError E442; nothing more is written then. */
  write(events: readonly ChromeEvent[]): Promise<void>;
  /** After the last event. @throws ResourceError E442; no file is left then. */
  close(): Promise<void>;
}
