/** A request as a real client sends it, and what it must get. */
export interface Shape {
  /** Who sends it. */
  readonly client: string
  /** What it gets, in words. */
  readonly gets: string
  /** Sends the request, and returns what decides. */
  run(): Promise<unknown>
  readonly expected: unknown
}
