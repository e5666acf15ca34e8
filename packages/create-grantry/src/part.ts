/** The additions of an answer to the project. */
export interface Part {
  /** Names by the module from which `grantry.ts` imports them. */
  readonly imports?: Readonly<Record<string, readonly string[]>> | undefined
  /** Lines of `grantry.ts` before its functions. */
  readonly declarations?: string | undefined
  /** Lines of `grantryOptions()` before the options. */
  readonly preparation?: string | undefined
  /** The expression in `grantry.ts`. Empty: the caller of `createGrantry()` passes it. */
  readonly code: string
  /** More members of `createProvider()`. */
  readonly members?: readonly string[] | undefined
  /** Settings for `.env`, with their values. */
  readonly settings?: Readonly<Record<string, string>> | undefined
  /** Packages of Grantry, and of others that they need. */
  readonly packages: readonly string[]
}

/** A project that is not written yet. */
export interface Project {
  /** The files by their names. */
  readonly files: Readonly<Record<string, string>>
  /** Lines of `.gitignore`. */
  readonly ignored: readonly string[]
  /** How the first user signs in, or what to do first. */
  readonly note: string
  /** A command that completes the project after its packages are installed. */
  readonly setUp?: string | undefined
  /** Whether `npm test` exists. */
  readonly hasTest: boolean
  /** The command that starts the project once, if it has one that listens at the port 0. */
  readonly start?: string | undefined
  /** The next command of the user. */
  readonly next: string
}
