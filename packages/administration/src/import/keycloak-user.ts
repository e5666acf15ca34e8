import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { usernameProblem } from '../users/username.ts'
import { idProblem } from './client-draft.ts'
import { isPlaceholder } from './exported-values.ts'
import { type Consequence, type Finding, type ImportPorts, objectsIn } from './imported.ts'
import { disabledWithout } from './imported-second-factor.ts'
import { createReader, type Known, type Reader } from './reader.ts'

/** Claims of attributes that Keycloak maps by default. */
const claimNames: Readonly<Record<string, string>> = {
  locale: 'locale',
  phoneNumber: 'phone_number',
  phoneNumberVerified: 'phone_number_verified',
  picture: 'picture',
  website: 'website',
  profile: 'profile',
  nickname: 'nickname',
  middleName: 'middle_name',
  gender: 'gender',
  birthdate: 'birthdate',
  zoneinfo: 'zoneinfo',
}

function attributeClaims(attributes: unknown, entry: string, findings: Finding[]): Members {
  const reader = createReader(isJsonObject(attributes) ? attributes : {}, {
    entry,
    findings,
    path: 'attributes.',
    known: knownAttributes,
  })
  const claims = Object.entries(claimNames).flatMap(([name, claim]) => {
    const value = reader.take(name)
    const text: unknown = Array.isArray(value) ? value[0] : value
    if (typeof text !== 'string') return []
    return [[claim, claim === 'phone_number_verified' ? text === 'true' : text] as const]
  })
  reader.end()
  return Object.fromEntries(claims)
}

/** Returns credentials in the form of new versions: before version 9, the hash was a member. */
function hashOf(credential: Members, ports: ImportPorts): string | undefined {
  const { credentialData, secretData, hashedSaltedValue, salt, hashIterations, algorithm } = credential
  if (typeof credentialData === 'string' && typeof secretData === 'string')
    return ports.keycloakPasswordHash({ credentialData, secretData })
  if (typeof hashedSaltedValue !== 'string') return undefined
  return ports.keycloakPasswordHash({
    credentialData: JSON.stringify({ algorithm, hashIterations }),
    secretData: JSON.stringify({ value: hashedSaltedValue, salt }),
  })
}

/** Credentials that no sign-in with a password needs. */
const needless: ReadonlyMap<unknown, readonly [what: string, Consequence]> = new Map([
  ['password-history', ['passwords of before are not imported', 'cosmetic']],
  ['webauthn-passwordless', ['a passkey is not imported: the user adds it again', 'sign-in']],
])

/**
 * Returns the factors that a user needs besides the password. An unknown credential counts as a factor, because an
 * extension can demand it.
 */
function factorsOf({ credentials, totp, requiredActions }: Members): readonly string[] {
  if (credentials !== undefined && credentials !== null && !Array.isArray(credentials)) return ['credentials']
  // A factor that a user has to set up is demanded, too.
  const setUp = (Array.isArray(requiredActions) ? requiredActions : []).filter((action) =>
    /^(?:CONFIGURE_|webauthn-)/u.test(String(action)),
  )
  const types = [...objectsIn(credentials).map(({ type }) => type), ...setUp]
  const factors = types.filter((type) => type !== 'password' && !needless.has(type)).map(String)
  const hasApp = totp !== undefined && totp !== null && totp !== false && totp !== 'false'
  return factors.length === 0 && hasApp ? ['totp'] : factors
}

async function passwordOf(
  credentials: unknown,
  { note, changed }: Reader,
  ports: ImportPorts,
): Promise<string | undefined> {
  let password: string | undefined
  for (const [index, credential] of objectsIn(credentials).entries()) {
    const member = `credentials[${index}]`
    if (credential.type !== 'password') {
      const reason = needless.get(credential.type)
      if (reason !== undefined) note(member, ...reason)
    } else if (password !== undefined) note(member, 'was left out: a user has one password', 'sign-in')
    else if (typeof credential.value === 'string' && isPlaceholder(credential.value))
      note(member, 'the password was left out: it is a placeholder', 'sign-in')
    else if (typeof credential.value === 'string') password = await ports.hashPassword(credential.value)
    else {
      const hash = hashOf(credential, ports)
      const problem = hash === undefined ? 'its algorithm is not known' : ports.passwordHashProblem(hash)
      if (problem === undefined) password = hash
      else note(member, `the password was left out: ${problem}`, 'sign-in')
    }
    if (credential.temporary === true) changed(member, 'is temporary in Keycloak; here the user can keep it', 'sign-in')
  }
  return password
}

function claimsOf(reader: Reader, username: string, entry: string, findings: Finding[]): Members {
  const { text, flag, texts } = reader
  const [givenName, familyName, email] = [text('firstName'), text('lastName'), text('email')]
  const name = [givenName, familyName].filter((part) => part !== undefined).join(' ')
  const roles = texts('realmRoles').filter(
    (role) => !/^default-roles-|^(?:offline_access|uma_authorization)$/u.test(role),
  )
  const verified = flag('emailVerified')
  return {
    preferred_username: username,
    ...(name !== '' && { name }),
    ...(givenName !== undefined && { given_name: givenName }),
    ...(familyName !== undefined && { family_name: familyName }),
    ...(email !== undefined && { email, email_verified: verified ?? false }),
    ...attributeClaims(reader.take('attributes'), entry, findings),
    ...(roles.length > 0 && { role: roles }),
  }
}

const consequences: ReadonlyMap<string, readonly [Consequence, string?]> = new Map([
  ['federationLink', ['sign-in', 'belongs to a directory: the user has no password here']],
  ['federatedIdentities', ['sign-in', 'accounts at other providers are not imported: users link them again']],
  ['requiredActions', ['sign-in', 'is not demanded here']],
  ['groups', ['token']],
  ['clientRoles', ['token']],
  ['clientConsents', ['cosmetic']],
])
const known: Known = (member) => consequences.get(member)
const knownAttributes: Known = () => ['token']

export async function keycloakUser(
  exported: Members,
  findings: Finding[],
  ports: ImportPorts,
): Promise<readonly Members[]> {
  const username = String(exported.username ?? '')
  const entry = `user ${username}`
  const reader = createReader(exported, { entry, findings, known })
  // Realms that are written by hand have no ids.
  const sub = reader.text('id') ?? username
  if (exported.id === undefined) reader.changed('id', `is not in the export; the sub is ${sub}`, 'sub')
  const service = reader.text('serviceAccountClientId')
  const problem = usernameProblem(username)
  const reason =
    (service === undefined ? undefined : `it is the service account of the client ${service}`) ??
    (problem === undefined ? undefined : `the name ${problem}`) ??
    idProblem(sub)
  if (reason !== undefined) {
    reader.note(undefined, `was left out: ${reason}`, service === undefined ? 'sign-in' : 'cosmetic')
    return []
  }
  const disabled = disabledWithout(factorsOf(exported), entry, findings)
  const password = await passwordOf(reader.take('credentials'), reader, ports)
  const claims = claimsOf(reader, username, entry, findings)
  const enabled = reader.flag('enabled')
  reader.ignore(['username', 'createdTimestamp', 'access', 'disableableCredentialTypes'])
  reader.ignore(['totp'])
  reader.ignore(['notBefore'], 0)
  reader.end()
  return [
    {
      sub,
      username,
      ...(password !== undefined && { password }),
      // Keycloak disables users without this member, too; exports always have it.
      ...(enabled !== true && { active: false }),
      ...disabled,
      claims,
    },
  ]
}
