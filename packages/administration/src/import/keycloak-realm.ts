import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { type Consequence, type Finding, objectsIn } from './imported.ts'
import { createFlows, type FlowFacts } from './keycloak-flow.ts'
import { createReader, type Known, type Reader } from './reader.ts'

/** The settings of a realm that its clients need. Durations are in seconds. */
export interface RealmFacts extends FlowFacts {
  readonly realm: string
  readonly lifetime: number | undefined
  /** The end of a session that is not used, and of one that is. */
  readonly idle: number | undefined
  readonly longest: number | undefined
  /** Whether users can sign in with their addresses. */
  readonly isAddressName: boolean
  readonly findings: Finding[]
}

const signIn = 'sign-in' as const

const counterparts: ReadonlyMap<string, readonly [Consequence, string?]> = new Map([
  ['identityProviders', [signIn, 'users sign in at other providers: configure upstream of the plugin sign-in']],
  ['federatedUsers', [signIn]],
  ['registrationAllowed', [signIn, 'users sign up there: configure accounts of the plugin sign-in']],
  ['resetPasswordAllowed', [signIn, 'users recover their accounts there: configure accounts of the plugin sign-in']],
  ['organizationsEnabled', ['token', 'organizations are not imported: configure organizations of the plugin sign-in']],
  ['identityProviderMappers', ['token']],
  ['groups', ['token', 'groups are not imported: give users a claim']],
  ['scopeMappings', ['token']],
  ['clientScopeMappings', ['token']],
])

/** Settings of pages, mails, events and limits, which the configuration has in its own way. */
const cosmetic =
  /Theme$|^(?:events|adminEvents|webAuthn|otpPolicy|browser|firstBroker|docker|directGrant|resetCredentials|clientAuthentication|registrationFlow|actionToken|supported|internationalization|localization|authentic|requiredActions|requiredCredentials|smtpServer|enabledEventTypes|clientProfiles|clientPolicies|attributes|userManagedAccess|rememberMe|verifyEmail|bruteForce|maxFailure|waitIncrement|quickLogin|minimumQuick|maxDelta|failureFactor|permanentLockout|maxTemporary|sslRequired|editUsername|verifiableCredentials|adminPermissions|oauth2Device)/u

const isCosmetic = (member: string): boolean => cosmetic.test(member)

const known: Known = (member) => counterparts.get(member) ?? (isCosmetic(member) ? ['cosmetic'] : undefined)

/** Components by the interface that they implement. */
function readComponents(components: unknown, { note }: Reader): void {
  if (!isJsonObject(components)) return
  for (const [type, list] of Object.entries(components)) {
    const names = objectsIn(list).map(({ name, providerId }) => `${String(name)} (${String(providerId)})`)
    if (names.length === 0) continue
    const text = names.join(', ')
    if (type === 'org.keycloak.storage.UserStorageProvider') {
      note(
        'components',
        `the users of ${text} are not in the export: configure users with the driver ldap or sql`,
        signIn,
      )
    } else if (type === 'org.keycloak.keys.KeyProvider') {
      const what = `the signing keys ${text} are not imported: APIs and clients have to read the new key set`
      note('components', what, 'token')
    } else note('components', `${type}: ${text} have no counterpart`, 'cosmetic')
  }
}

const hasRoles = ({ realmRoles, clientRoles }: Members): boolean =>
  (Array.isArray(realmRoles) && realmRoles.length > 0) || clientRoles !== undefined

/** Reads the realm itself: reports what it has besides its lists, without the settings that every export has. */
export function readRealm(realm: Members, findings: Finding[]): RealmFacts {
  const name = String(realm.realm ?? '')
  const reader = createReader(realm, { entry: `realm ${name}`, findings, known })
  const { number } = reader
  const users = objectsIn(realm.users)
  readComponents(reader.take('components'), reader)
  const isAddressName = reader.flag('loginWithEmailAllowed', true) ?? true
  if (users.some(hasRoles)) {
    const what = 'roles are in the claim role of the scope roles, not in realm_access.roles and resource_access'
    reader.changed('roles', what, 'token')
  }
  const [idle, longest] = [number('ssoSessionIdleTimeout'), number('ssoSessionMaxLifespan')]
  const offline = number('offlineSessionIdleTimeout')
  if (offline !== undefined && idle !== undefined) {
    const what = `refresh tokens for offline_access end as those of sessions: after ${idle} seconds without use, not ${offline}; set refreshToken.slidingLifetime and absoluteLifetime of a client that needs them longer`
    reader.changed('offlineSessionIdleTimeout', what, signIn)
  }
  if (reader.flag('revokeRefreshToken') !== true)
    reader.changed('revokeRefreshToken', 'a refresh token can be used once: clients must keep the new one', 'token')
  const lifetime = number('accessTokenLifespan')
  reader.ignore([
    'clients',
    'clientScopes',
    'users',
    'id',
    'realm',
    'displayName',
    'displayNameHtml',
    'keycloakVersion',
  ])
  reader.ignore(['defaultDefaultClientScopes', 'defaultOptionalClientScopes', 'defaultRole', 'defaultRoles'])
  // Clients and users have the names of roles and algorithms themselves.
  reader.ignore(['roles', 'defaultSignatureAlgorithm'])
  // The demands of flows are read for the clients.
  reader.ignore(['browserFlow', 'directGrantFlow', 'authenticationFlows'])
  reader.ignore(['enabled', 'registrationEmailAsUsername'], true, false)
  reader.ignore([...counterparts.keys(), 'notBefore', 'refreshTokenMaxReuse'], false, 0)
  reader.ignore(
    Object.keys(realm).filter((member) =>
      /^(?:offlineSession|clientSession|clientOffline|ssoSession|accessCode|accessTokenLifespanFor)/u.test(member),
    ),
  )
  reader.ignore(Object.keys(realm).filter(isCosmetic), false, 0)
  reader.end()
  const flowOf = createFlows(realm)
  return {
    realm: name,
    lifetime,
    idle: idle || undefined,
    longest: longest || undefined,
    isAddressName,
    demandOf: {
      pages: (override) => flowOf(override || realm.browserFlow, 'browser'),
      passwords: (override) => flowOf(override || realm.directGrantFlow, 'direct grant'),
    },
    levels: isJsonObject(realm.attributes) ? realm.attributes['acr.loa.map'] : undefined,
    findings,
  }
}
