import type * as v from 'valibot'

/** The groups of members in the administration, in their order, with their headings. */
export const memberGroups = {
  application: 'General',
  access: 'What it can get',
  addresses: 'Where users return to',
  'sign-in': 'Sign-in',
  pages: 'On the pages of the sign-in',
  tokens: 'Tokens',
  keys: 'Keys and certificates',
  security: 'Security',
} as const

export type MemberGroup = keyof typeof memberGroups

/** What administrators read about a member of a client, a scope or another entry. */
export interface MemberText {
  /** A label. */
  readonly title: string
  /** What the member does, in one or two sentences. */
  readonly text: string
  readonly group: MemberGroup
}

type MemberSchema = v.ObjectEntries[string]

/** A member of a client or scope: its schema, and what administrators read about it. */
export interface Member<S extends MemberSchema = MemberSchema> extends MemberText {
  readonly schema: S
}

/** Members by name. One that is only a schema has its name as its title. */
export type MemberEntries = Readonly<Record<string, MemberSchema | Member>>

/** Texts of members, by name. */
export type MemberTexts = Readonly<Record<string, MemberText>>

/**
 * Declares a member: its schema, and what administrators read about it in the console, the admin API and the guides.
 *
 * @example
 * const clientMembers = {
 *   // For an editor: what the member does.
 *   tier: member(v.optional(v.picklist(['gold', 'basic'])), { title: 'Tier', text: 'What it pays.', group: 'access' }),
 * }
 * declare module '@grantry/core' {
 *   interface ClientMembers extends MembersOf<typeof clientMembers> {}
 * }
 */
// @__NO_SIDE_EFFECTS__
export const member = <const S extends MemberSchema>(schema: S, text: MemberText): Member<S> => ({ schema, ...text })

type SchemaOf<M> = M extends Member<infer S> ? S : M
type OutputOf<M> = SchemaOf<M> extends v.GenericSchema ? v.InferOutput<SchemaOf<M>> : never
type Kept<T> = T extends readonly (infer Item)[] ? readonly Item[] : T

/**
 * The types of declared members. All are optional, also those with a default: a program without the plugin has none of them,
 * although it can see their types.
 */
export type MembersOf<M extends MemberEntries> = {
  readonly [Name in keyof M]?: Kept<OutputOf<M[Name]>> | undefined
}

const isMember = (entry: MemberSchema | Member): entry is Member => 'schema' in entry

/** Returns the schemas of members, by name. */
export const schemasOf = (members: MemberEntries): v.ObjectEntries =>
  Object.fromEntries(Object.entries(members).map(([name, entry]) => [name, isMember(entry) ? entry.schema : entry]))

/** Returns the texts of those members that have one, by name. */
export const textsOf = (members: MemberEntries): MemberTexts =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, entry]) => {
      if (!isMember(entry)) return []
      const { title, text, group } = entry
      return [[name, { title, text, group }]]
    }),
  )
