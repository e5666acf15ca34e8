/** A command or statement that a store received. */
export interface StoreCall {
  /** Milliseconds. */
  readonly time: number
  /** A script of Redis called it; a client sent all others. */
  readonly inScript: boolean
}

/** A store that the servers of the benchmark share, on a free loopback port. */
export interface BenchStore {
  readonly url: string
  readonly port: number
  /** Returns the URL for clients that connect through a forwarder. */
  urlAt(port: number): string
  /** Returns how many commands or statements it has executed, without our own. */
  calls(): Promise<number>
  /**
   * Returns the calls of a piece of work whose connections lead through a forwarder.
   *
   * @param settled milliseconds after which nothing more arrives
   */
  watch(work: () => Promise<unknown>, settled: number): Promise<readonly StoreCall[]>
  /** Returns a function that a forwarder calls with all bytes of one new connection. */
  readonly inspect?: () => (chunk: Buffer) => void
  /** Returns the CPU seconds of all its processes and threads. */
  cpu(): number
  stop(): Promise<void>
}

/** @param core the core to run on; any by default */
export type StartStore = (core?: number) => Promise<BenchStore>
