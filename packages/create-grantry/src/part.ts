/** What an answer adds to the project. */
export interface Part {
  /** Names by the module from which `grantry.ts` imports them. */
  readonly imports?: Readonly<Record<string, readonly string[]>>
  /** The expression in `grantry.ts`. */
  readonly code: string
  /** Settings for `.env`, with their values. */
  readonly settings?: Readonly<Record<string, string>>
  /** Packages of Grantry, and of others that they need. */
  readonly packages: readonly string[]
}
