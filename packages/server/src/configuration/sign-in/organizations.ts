import { configurationObject, type Json, type MaybePromise } from '@grantry/core'
import type { Organizations } from '@grantry/plugins/authorization-endpoint'
import * as v from 'valibot'

/** Claims that users can change themselves, or that do not state a membership (OpenID Connect Core section 5.1). */
const ownClaims: ReadonlySet<string> = new Set(
  (
    'sub name given_name family_name middle_name nickname preferred_username profile picture website email ' +
    'email_verified gender birthdate zoneinfo locale phone_number phone_number_verified address updated_at'
  ).split(' '),
)

const text = (what: string) =>
  v.pipe(v.string(`must be ${what}`), v.minLength(1, 'must not be empty'), v.maxLength(300, 'is too long'))

const name = v.pipe(text('a name'), v.regex(/^\S+$/u, 'must not contain a space: acr_values separates names by spaces'))
const subs = v.pipe(v.array(text('the sub of a user'), 'must be an array of subs'), v.maxLength(10_000, 'has too many'))
const values = v.pipe(
  v.array(text('a value of the claim'), 'must be an array of values'),
  v.minLength(1, 'must not be empty; leave it out for the name of the organization'),
  v.maxLength(100, 'has too many'),
)

const organization = configurationObject({
  /** In `acr_values` and in tokens. */
  name,
  /** The `sub` of users who are members without a claim. */
  members: v.optional(subs),
  /** The values of the claim that members have. Default: the name. */
  values: v.optional(values),
})

/** The member `organizations` of the plugin `sign-in`. */
export const organizationsMemberSchema = v.pipe(
  configurationObject({
    /** The claim of users that states their memberships. */
    claim: v.optional(
      v.pipe(
        text('the name of a claim'),
        v.check((claim) => !ownClaims.has(claim), 'must be a claim that users cannot change themselves'),
      ),
    ),
    /** The organizations. Default: each value of the claim is the name of one. */
    list: v.optional(v.pipe(v.array(organization, 'must be an array'), v.maxLength(10_000, 'has too many'))),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const { claim, list } = dataset.value
    if (claim === undefined && list === undefined) addIssue({ message: 'must have claim, list, or both' })
    const names = new Set<string>()
    for (const [index, { name, members = [], values }] of (list ?? []).entries()) {
      if (names.has(name)) addIssue({ message: `list[${index}].name is the name of an earlier organization` })
      names.add(name)
      if (claim !== undefined) continue
      if (values !== undefined) addIssue({ message: `list[${index}].values needs claim: the claim that has them` })
      else if (members.length === 0) addIssue({ message: `list[${index}] has no members; add them, or set claim` })
    }
  }),
)

export const organizationEntries = { organizations: v.optional(organizationsMemberSchema) } as const

export type OrganizationsMember = v.InferInput<typeof organizationsMemberSchema>

/** Returns claims of a user, from the place of the users. */
export type ReadUserClaims = (
  sub: string,
  names: readonly string[],
) => MaybePromise<Readonly<Record<string, Json | undefined>>>

const noClaims: ReadUserClaims = () => ({})

/**
 * Returns the organizations and their members: users in `members`, and those whose claim has one of the values. With
 * `list`, there are no other organizations than those in it.
 */
export function organizationsOf(
  member: OrganizationsMember | undefined,
  claimsOf: ReadUserClaims = noClaims,
): Organizations | undefined {
  if (member === undefined) return undefined
  const { claim, list } = member
  const known = list && new Map(list.map((entry) => [entry.name, { ...entry, members: new Set(entry.members) }]))
  return {
    async isMember(sub, organization) {
      const listed = known?.get(organization)
      if (known !== undefined && listed === undefined) return false
      if (listed?.members.has(sub) === true) return true
      if (claim === undefined) return false
      const held: readonly unknown[] = [(await claimsOf(sub, [claim]))[claim]].flat()
      return (listed?.values ?? [organization]).some((value) => held.includes(value))
    },
  }
}
