import type { RulePart } from '../check-rules/rule.ts'
import { isUserList } from '../configuration/users-schema.ts'
import type { Named } from './named.ts'

/** Whether all users are in the configuration, so that members and claims can be compared with them. */
const areKnown = ({ plugin: { providers = [] }, facts: { configuration } }: Named<'sign-in'>): boolean =>
  !configuration.administration && providers.length === 0 && isUserList(configuration.users)

/** The rules for organizations and their members. */
export const organizationRules: readonly RulePart<Named<'sign-in'>>[] = [
  {
    id: 'organization-member-unknown',
    severity: 'warning',
    remedy: 'write the sub of the user, or remove the member',
    source: 'docs/guides/tenants.md',
    check(signIn) {
      if (!areKnown(signIn)) return []
      const { list = [] } = signIn.plugin.organizations ?? {}
      const subs = new Set(signIn.facts.users.map(({ sub }) => sub))
      const reason = 'A member is not the sub of any user: a name was written instead of a sub, or the user was removed'
      return list.flatMap(({ members = [] }, index) =>
        members.some((sub) => !subs.has(sub))
          ? [{ where: `${signIn.path}.organizations.list[${index}].members`, reason }]
          : [],
      )
    },
  },
  // One provider must not speak for the members of another one.
  {
    id: 'organization-claim-of-providers',
    severity: 'warning',
    remedy: 'keep the members in users of the storage, or let one provider state the claim, without accounts',
    source: 'docs/guides/tenants.md',
    check(signIn) {
      const { organizations: { claim } = {}, providers = [], accounts } = signIn.plugin
      const stating = providers.filter(({ claims = {} }) => claim !== undefined && Object.hasOwn(claims, claim))
      const reason =
        stating.length > 1
          ? 'Several providers state this claim, so each of them can make its users members of every organization'
          : 'A provider states this claim, and an account keeps it as of the first sign-in: a user stays a member after leaving there'
      const isTrap = stating.length > 1 || (stating.length > 0 && accounts !== undefined)
      return isTrap && { where: `${signIn.path}.organizations.claim`, reason }
    },
  },
  {
    id: 'organization-claim-unused',
    severity: 'warning',
    remedy: 'add the claim to users, or name their sub in members',
    source: 'docs/guides/tenants.md',
    reason: 'No user has this claim, so it makes no user a member',
    check(signIn) {
      const { claim } = signIn.plugin.organizations ?? {}
      return (
        areKnown(signIn) &&
        claim !== undefined &&
        !signIn.facts.users.some(({ claims }) => claims[claim] !== undefined) &&
        `${signIn.path}.organizations.claim`
      )
    },
  },
]
