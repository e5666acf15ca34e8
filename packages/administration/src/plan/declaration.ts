import { configurationError, configurationObject, isJsonObject, parseConfiguration, quotableName } from '@grantry/core'
import * as v from 'valibot'
import type { Members } from '../differences.ts'
import { idOf, type PlannedKind, plannedKinds } from './planned-kind.ts'

/** An entry as a file declares it. */
export interface DeclaredEntry {
  readonly id: string
  readonly value: Members
  readonly tags: readonly string[]
  /** The file and the path in it, for errors. */
  readonly where: string
}

/** What files declare, by the lists that at least one of them has. */
export type Declaration = ReadonlyMap<PlannedKind, readonly DeclaredEntry[]>

/** A file, with hashes for its secrets. */
export interface DeclaredFile {
  readonly file: string
  readonly content: unknown
}

const tagsSchema = v.optional(v.array(v.string('must be a string'), 'must be an array of strings'), [])

/** The members of an entry. The provider checks those that it knows. */
const entrySchema = ({ type }: PlannedKind) =>
  v.pipe(
    v.custom<Members>(isJsonObject, `must be an object such as { "${type.idMember}": "..." }`),
    v.looseObject({ [type.idMember]: v.string('must be a string'), tags: tagsSchema }, 'is required'),
  )

const fileSchema = v.pipe(
  // An array is an object, too.
  v.custom<object>((content) => !Array.isArray(content), 'must be an object such as { "clients": [] }, not an array'),
  configurationObject(
    {
      /** The URL of the JSON Schema, for editors. */
      $schema: v.optional(v.string('must be the URL of a JSON Schema')),
      ...Object.fromEntries(
        plannedKinds.map((kind) => [kind.list, v.optional(v.array(entrySchema(kind), 'must be an array'))]),
      ),
    },
    { noun: 'list', shape: ['an object such as { "clients": [] }'] },
  ),
)

/** Without members that are `null`: they have their default. */
const present = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))

/**
 * Reads what files declare.
 *
 * @throws TypeError for a file of another form, or an entry that is declared twice. `configurationProblems()` returns all.
 */
export function declarationOf(files: readonly DeclaredFile[]): Declaration {
  const declared = new Map<PlannedKind, DeclaredEntry[]>()
  const problems: string[] = []
  for (const { file, content } of files) {
    const lists = parseConfiguration(fileSchema, content, file) as Readonly<Record<string, unknown>>
    for (const kind of plannedKinds) {
      const list = lists[kind.list] as readonly (Members & { readonly tags: readonly string[] })[] | undefined
      if (list === undefined) continue
      const known = declared.get(kind) ?? []
      declared.set(kind, known)
      for (const [index, { tags, ...members }] of list.entries()) {
        known.push({ id: idOf(kind, members), value: present(members), tags, where: `${file}: ${kind.list}[${index}]` })
      }
    }
  }
  for (const [{ type }, entries] of declared) {
    const first = new Map<string, DeclaredEntry>()
    for (const entry of entries) {
      const earlier = first.get(entry.id)
      if (earlier === undefined) first.set(entry.id, entry)
      else
        problems.push(`${entry.where}: the ${type.noun} ${quotableId(entry.id)} is declared in ${earlier.where}, too`)
    }
  }
  const [problem, ...others] = problems
  if (problem !== undefined) throw configurationError([problem, ...others])
  return declared
}

/** An id for an error: a secret could have been pasted there. */
const quotableId = (id: string): string => (/^[\w.-]{1,30}$/u.test(id) ? id : quotableName(id))
