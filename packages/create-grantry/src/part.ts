/** What an answer adds to the project. */
export interface Part {
  /** Names by the module from which `grantry.ts` imports them. */
  readonly imports?: Readonly<Record<string, readonly string[]>> | undefined
  /** Lines of `grantry.ts` before its functions. */
  readonly declarations?: string | undefined
  /** Lines of `createGrantry()` before the provider. */
  readonly preparation?: string | undefined
  /** The expression in `grantry.ts`. Empty: the caller of `createGrantry()` passes it. */
  readonly code: string
  /** What `createGrantry()` returns, instead of the provider. */
  readonly result?: string | undefined
  /** More members of `createProvider()`. */
  readonly members?: readonly string[] | undefined
  /** Settings for `.env`, with their values. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** Packages of Grantry, and of others that they need. */
  readonly packages: readonly string[]
}
