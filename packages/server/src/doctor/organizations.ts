import { isUserList } from '../administration/check-user.ts'
import type { NamedPlugin } from '../configuration/named-plugins.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type SignInPlugin = Extract<NamedPlugin, { readonly name: 'sign-in' }>

/** Checks the members of organizations, when all users are in the configuration. */
export function checkOrganizations(
  { organizations, providers = [] }: SignInPlugin,
  path: string,
  { configuration: { administration, users: source }, users }: Facts,
): readonly Finding[] {
  if (organizations === undefined || administration || providers.length > 0 || !isUserList(source)) return []
  const { claim, list = [] } = organizations
  const subs = new Set(users.map(({ sub }) => sub))
  const unknown = list.flatMap(({ members = [] }, index) =>
    members.some((sub) => !subs.has(sub))
      ? [
          finding(
            'organization-member-unknown',
            `${path}.organizations.list[${index}].members`,
            'A member is the sub of no user: a name was written instead of a sub, or the user was removed',
          ),
        ]
      : [],
  )
  const isHeld = claim === undefined || users.some(({ claims }) => claims[claim] !== undefined)
  const reason = 'No user has this claim, so it makes no user a member'
  return [...unknown, ...(isHeld ? [] : [finding('organization-claim-unused', `${path}.organizations.claim`, reason)])]
}
