import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'

/**
 * What users and APIs notice of a finding, the worst first: a sign-in, a sign-out or a request for tokens fails; users have
 * another `sub`; a token or a response is another one; it depends on what the member meant there; nothing.
 */
export const consequences = ['sign-in', 'sub', 'token', 'unknown', 'cosmetic'] as const
export type Consequence = (typeof consequences)[number]

/** Something of an export that was changed, or that has no counterpart. */
export interface Finding {
  /** Such as `client web`. */
  readonly entry: string
  /** The path of the member in the export; absent if it is the entry itself. */
  readonly member?: string | undefined
  /** What became of it. It contains no secret. */
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

/** What the program that imports has read, parsed as JSON. */
export interface ExportedFile {
  /** Its path in the export, such as `clients/web.json`. */
  readonly path: string
  readonly content: unknown
}

/** What users sign in with after the import: their names, or their addresses where they could there. */
export type ImportedNames = 'username' | 'address'

/** What an import needs to know about passwords, functions of `@grantry/users/password-hash`, and what is asked of it. */
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
