import type { NamedPlugin } from '../configuration/named-plugins.ts'
import { isUserList } from '../configuration/users.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding } from './finding.ts'

type SignInPlugin = Extract<NamedPlugin, { readonly name: 'sign-in' }>

/** Checks who states the claim that makes users members: one provider must not speak for the members of another one. */
function checkClaimOfProviders({ organizations, providers = [], accounts }: SignInPlugin, path: string) {
  const { claim } = organizations ?? {}
  const stating = providers.filter(({ claims = {} }) => claim !== undefined && Object.hasOwn(claims, claim))
  const reason =
    stating.length > 1
      ? 'Several providers state this claim, so each of them can make its users members of every organization'
      : 'A provider states this claim, and an account keeps it as of the first sign-in: a user stays a member after leaving there'
  const isTrap = stating.length > 1 || (stating.length > 0 && accounts !== undefined)
  return isTrap ? [finding('organization-claim-of-providers', `${path}.organizations.claim`, reason)] : []
}

/** Checks the members of organizations, when all users are in the configuration. */
export function checkOrganizations(
  plugin: SignInPlugin,
  path: string,
  { configuration: { administration, users: source }, users }: Facts,
): readonly Finding[] {
  const { organizations, providers = [] } = plugin
  if (organizations === undefined) return []
  if (administration || providers.length > 0 || !isUserList(source)) return checkClaimOfProviders(plugin, path)
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
