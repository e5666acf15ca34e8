import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'

/**
 * The consequences of a finding for users and APIs, the worst first. `sign-in`: a sign-in, a sign-out or a request for
 * tokens fails. `sub`: users have another `sub`. `token`: a token or a response differs. `unknown`: it depends on the
 * meaning of the member in the other system. `cosmetic`: none.
 */
export const consequences = ['sign-in', 'sub', 'token', 'unknown', 'cosmetic'] as const
export type Consequence = (typeof consequences)[number]

/** A member or an entry of an export that was changed, or that has no counterpart. */
export interface Finding {
  /** Such as `client web`. */
  readonly entry: string
  /** The path of the member in the export; absent if it is the entry itself. */
  readonly member?: string | undefined
  /** What happened to it, without secrets. */
  readonly what: string
  /** `changed`: it was taken over, and has another effect. `lost`: it was not. */
  readonly outcome: 'changed' | 'lost'
  readonly consequence: Consequence
}

/** An export of another system, as a file for `grantry apply` declares it. */
export interface Imported {
  readonly scopes: readonly Members[]
  readonly clients: readonly Members[]
  readonly users: readonly Members[]
  readonly findings: readonly Finding[]
}

/** A file of an export, parsed as JSON. */
export interface ExportedFile {
  /** Its path in the export, such as `clients/web.json`. */
  readonly path: string
  readonly content: unknown
}

/**
 * The names with which users sign in after the import: their user names, or their addresses if the other system accepts
 * those.
 */
export type ImportedNames = 'username' | 'address'

/** The functions of `@grantry/users/password-hash` that an import needs, and its options. */
export interface ImportPorts {
  /** Default: `username`. */
  readonly names?: ImportedNames | undefined
  readonly keycloakPasswordHash: (credential: {
    readonly credentialData: string
    readonly secretData: string
  }) => string | undefined
  /** Returns why a hash cannot be verified; `undefined` if it can. */
  readonly passwordHashProblem: (hash: string) => string | undefined
  readonly hashPassword: (password: string) => Promise<string>
}

/** Reads an export. @throws TypeError if it is not one of this system. */
export type ImportFunction = (files: readonly ExportedFile[], ports: ImportPorts) => Promise<Imported>

/** The objects of a list; none if it is not a list. */
export const objectsIn = (list: unknown): readonly Members[] => (Array.isArray(list) ? list.filter(isJsonObject) : [])
