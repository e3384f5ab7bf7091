import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { Signal } from "./rings.ts";

/** Words of the shared header of a mailbox. */
const SIGNAL = 0;
const POSTED = 1;
const HEADER_WORDS = 2;

/** What a thread that blocks needs to be reached: messages on a port, and words to wake it with. */
export interface Mailbox {
  readonly port: MessagePort;
  readonly header: Int32Array<SharedArrayBuffer>;
}

/** Makes the shared header of a mailbox. */
export function createMailboxHeader(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(HEADER_WORDS * Int32Array.BYTES_PER_ELEMENT));
}

/** Raised to wake the thread that owns the mailbox, for letters or for anything else. */
export function mailboxSignal(header: Int32Array<SharedArrayBuffer>): Signal {
  return new Signal(header, SIGNAL);
}

/** The sending side of a mailbox. */
export class Outbox<Message> {
  readonly #mailbox: Mailbox;
  readonly #signal: Signal;

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox;
    this.#signal = mailboxSignal(mailbox.header);
  }

  /** Posts a message and wakes the thread. */
  post(message: Message): void {
    this.#mailbox.port.postMessage(message);
    Atomics.add(this.#mailbox.header, POSTED, 1);
    this.#signal.raise();
  }
}

/** The receiving side, in a thread that never returns to its event loop. */
export class Inbox<Message> {
  readonly #mailbox: Mailbox;
  #takenCount = 0;

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox;
  }

  /** The oldest message posted so far and not taken yet; null if there is none. */
  take(): Message | null {
    // Reading a word is free; asking an empty port costs a call into C++.
    if (this.#takenCount === Atomics.load(this.#mailbox.header, POSTED)) return null;
    const received = receiveMessageOnPort(this.#mailbox.port);
    if (!received) return null;
    this.#takenCount = (this.#takenCount + 1) | 0;
    return received.message as Message;
  }
}
