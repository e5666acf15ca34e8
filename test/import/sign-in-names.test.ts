// Users who could sign in with their address there: the address becomes the name, or the report names them.
import { describe, expect, test } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { foreignHashes, keycloakCredentials, password } from '../users/hash-vectors.ts'
import { applied, imported, refusal, token } from './setting.ts'

const directory = sharedDirectory('import-names')
const secret = 'a-secret-of-this-client'

interface Person {
  readonly id: string
  readonly username: string
  readonly email?: string
  readonly isVerified?: boolean
}
const people: readonly Person[] = [
  { id: '1', username: 'ann', email: 'Ann@Example.com', isVerified: true },
  { id: '2', username: 'bob', email: 'bob@example.com', isVerified: false },
  // The name of one is the address of another.
  { id: '3', username: 'carol@example.com' },
  { id: '4', username: 'carol', email: 'Carol@example.com', isVerified: true },
  { id: '5', username: 'dave', email: 'shared@example.com', isVerified: true },
  { id: '6', username: 'erin', email: 'SHARED@example.com', isVerified: false },
  { id: '7', username: 'frank@example.com', email: 'Frank@example.com', isVerified: false },
  { id: '8', username: 'grace', email: ' grace@example.com', isVerified: true },
  { id: '9', username: 'heidi' },
]

const systems: readonly (readonly [system: string, of: (more?: object) => object])[] = [
  [
    'keycloak',
    (more) => ({
      realm: 'r',
      clients: [{ clientId: 'web', secret, standardFlowEnabled: false, directAccessGrantsEnabled: true }],
      users: people.map(({ isVerified, ...user }) => ({
        ...user,
        enabled: true,
        ...(isVerified !== undefined && { emailVerified: isVerified }),
        credentials: [{ type: 'password', ...keycloakCredentials['pbkdf2-sha256'] }],
      })),
      ...more,
    }),
  ],
  [
    'auth0',
    () => ({
      clients: [{ client_id: 'web', client_secret: secret, grant_types: ['password'] }],
      users: people.map(({ id, isVerified, ...user }) => ({
        ...user,
        user_id: `auth0|${id}`,
        ...(isVerified !== undefined && { email_verified: isVerified }),
        passwordHash: foreignHashes['bcrypt $2b$'],
      })),
    }),
  ],
]
const signIn = (username: string) =>
  [['web', secret], { grant_type: 'password', username, password, scope: 'openid' }] as const
const namesIn = (declared: { readonly users: readonly { readonly username: string }[] }) =>
  declared.users.map(({ username }) => username)
const names = people.map(({ username }) => username)

describe.each(systems)('%s', (system, of) => {
  test('with --names address, a verified address that one user has is the name, with the old password', async () => {
    const { file, declared, report } = await imported(directory, system, of(), '--names', 'address')
    expect(namesIn(declared)).toEqual(['Ann@Example.com', ...names.slice(1)])
    expect(declared.users[0].claims).toMatchObject({ preferred_username: 'ann', email: 'Ann@Example.com' })
    const cannot = 'email: the user cannot sign in with the address, because'
    for (const line of [
      'user ann: email: the user signs in with the address, and no longer with the name',
      `user bob, user erin: ${cannot} it is not verified: say that the name counts`,
      `user carol, user dave: ${cannot} another user has it, too: say that the name counts`,
      `user grace: ${cannot} it must not start or end with a space: say that the name counts`,
    ])
      expect(report).toContain(line)
    expect(
      await applied(directory, file, [
        signIn('ann@example.com'),
        signIn('ann'),
        signIn('bob'),
        signIn('bob@example.com'),
      ]),
    ).toEqual([token, refusal('invalid_grant'), token, refusal('invalid_grant')])
  })

  test('without it, names stay, and the report says who needs to know', async () => {
    const { declared, report } = await imported(directory, system, of())
    expect(namesIn(declared)).toEqual(names)
    expect(report).toContain(
      'user ann: email: the user cannot sign in with the address: import with --names address, or say that the name counts',
    )
    expect(report.indexOf('Breaks a sign-in, a sign-out or a request for tokens:')).toBe(0)
  })
})

test('a realm without the sign-in by address keeps the names', async () => {
  const [[, of] = ['', () => ({})]] = systems
  const realm = of({ loginWithEmailAllowed: false })
  const { declared, printed } = await imported(directory, 'keycloak', realm, '--names', 'address')
  expect(namesIn(declared)).toEqual(names)
  expect(printed).not.toContain('with the address')
})
