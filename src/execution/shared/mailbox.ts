import { type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { Signal } from "./rings.ts";

/** Word indices in the shared header of a mailbox. */
const SIGNAL = 0;
const POSTED = 1;
const SLEEPS = 2;
const HEADER_WORDS = 3;

/** What others need to reach a blocking thread: a port for messages, and words to wake it. */
export interface Mailbox {
  readonly port: MessagePort;
  readonly header: Int32Array<SharedArrayBuffer>;
}

export function createMailboxHeader(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(HEADER_WORDS * Int32Array.BYTES_PER_ELEMENT));
}

/** For another owner: the thread of the one before has exited, with all mail to it. */
export function resetMailbox(header: Int32Array<SharedArrayBuffer>): void {
  Atomics.store(header, POSTED, 0);
}

/** The signal that wakes the owner of the mailbox, for messages or anything else. */
export function mailboxSignal(header: Int32Array<SharedArrayBuffer>): Signal {
  return new Signal(header, SIGNAL, SLEEPS);
}

/** How often the owner of the mailbox went to sleep. */
export function sleepsOf(header: Int32Array<SharedArrayBuffer>): number {
  return Atomics.load(header, SLEEPS);
}

export class Outbox<Message> {
  readonly #mailbox: Mailbox;
  readonly #signal: Signal;

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox;
    this.#signal = mailboxSignal(mailbox.header);
  }

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

  /**
   * The oldest message not taken yet; null if there is none.
   *
   * @throws Error if the thread is being ended. It may run on for a moment, in which Node hands it empty messages.
   */
  take(): Message | null {
    // Reading a word is cheap; asking an empty port costs a call into C++.
    if (this.#takenCount === Atomics.load(this.#mailbox.header, POSTED)) return null;
    const message = receiveMessageOnPort(this.#mailbox.port)?.message as Message | undefined;
    if (message === undefined) throw new Error("the thread is being ended: its messages cannot be taken");
    this.#takenCount = (this.#takenCount + 1) | 0;
    return message;
  }
}
