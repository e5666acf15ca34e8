// Organizations in the configuration of the server: members by their subs, or by a claim that users have where they are kept.
import { createHash } from 'node:crypto'
import { parseConfiguration } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'
import {
  type OrganizationsMember,
  organizationsMemberSchema,
  organizationsOf,
} from '../../packages/server/src/configuration/sign-in/organizations.ts'
import { answer, createBrowser, hiddenFields } from '../authorization/browser.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'

const claims: Readonly<Record<string, object>> = {
  alice: { groups: ['cn=acme,ou=groups', 'staff'], org: 'acme' },
  bob: { groups: 'cn=beta,ou=groups' },
  carol: { groups: [['acme']], org: { acme: true } },
}
const member = (options: OrganizationsMember) =>
  organizationsOf(options, (sub) => (claims[sub] ?? {}) as never)?.isMember ?? (() => undefined)

describe('members of organizations', () => {
  test('21.87 are users that the list names', async () => {
    const isMember = member({ list: [{ name: 'acme', members: ['alice'] }] })
    expect(await Promise.all([isMember('alice', 'acme'), isMember('bob', 'acme'), isMember('alice', 'beta')])).toEqual([
      true,
      false,
      false,
    ])
  })

  test('21.87 are users whose claim has a value of the organization, or its name', async () => {
    const isMember = member({
      claim: 'groups',
      list: [{ name: 'acme', values: ['cn=acme,ou=groups'] }, { name: 'staff' }, { name: 'acme2', values: ['acme'] }],
    })
    const memberships: unknown[] = []
    for (const sub of ['alice', 'bob', 'carol', 'unknown', '__proto__']) {
      for (const name of ['acme', 'staff', 'acme2']) if (await isMember(sub, name)) memberships.push(`${sub} ${name}`)
    }
    expect(memberships).toEqual(['alice acme', 'alice staff'])
    // There is no other one, also if the claim has it.
    expect(await isMember('alice', 'cn=acme,ou=groups')).toBe(false)
  })

  test('21.87 without a list, the claim has the names', async () => {
    const isMember = member({ claim: 'org' })
    expect(await Promise.all(['alice', 'bob', 'carol'].map((sub) => isMember(sub, 'acme')))).toEqual([
      true,
      false,
      false,
    ])
  })
})

const problemOf = (organizations: unknown): string => {
  try {
    parseConfiguration(organizationsMemberSchema, organizations as never, 'organizations')
    return ''
  } catch (cause) {
    return String((cause as Error).message)
  }
}

test.each([
  [{}, 'must have claim, list, or both'],
  [{ claim: 'email' }, 'users cannot change'],
  [{ claim: 'website' }, 'users cannot change'],
  [{ list: [{ name: 'acme' }] }, 'list[0] has no members'],
  [{ list: [{ name: 'acme', values: ['a'] }] }, 'list[0].values needs claim'],
  [{ claim: 'groups', list: [{ name: 'a b' }] }, 'must not contain a space'],
  [{ claim: 'groups', list: [{ name: 'a' }, { name: 'a' }] }, 'list[1].name is the name of an earlier organization'],
  [{ claim: 'groups', list: [{ name: 'a', values: [] }] }, 'must not be empty'],
])('a mistake is named: %j', (organizations, problem) => {
  expect(problemOf(organizations)).toContain(problem)
})

describe('in the server', () => {
  const redirectUri = 'http://127.0.0.1/callback'
  const spa = {
    clientId: 'spa',
    public: true,
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: [redirectUri],
    requireConsent: false,
  }
  const verifier = 'a'.repeat(43)
  const query = {
    client_id: 'spa',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }

  async function signedIn(organization: string) {
    const port = await reservedPort()
    const issuer = `http://127.0.0.1:${port}`
    const users = [
      { sub: '1', username: 'alice', password: await hashPassword('alice-password'), claims: { groups: ['acme'] } },
    ]
    const organizations = { claim: 'groups', list: [{ name: 'acme' }, { name: 'beta', members: ['2'] }] }
    const content = {
      issuer,
      storage: { driver: 'memory' },
      clients: [spa],
      users,
      plugins: [{ name: 'sign-in', organizations }],
    }
    const configuration = parseConfiguration(configurationSchema, content, '')
    const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
    const server = await startServer({ loaded, port, observe: () => {} })
    const send = (request: Request) => fetch(request, { redirect: 'manual' })
    try {
      const browser = createBrowser({ fetch: send, issuer })
      const parameters = new URLSearchParams({ ...query, acr_values: `tenant:${organization}` })
      const page = await browser.open(`${issuer}/connect/authorize?${parameters}`)
      const form = { ...hiddenFields(page), username: 'alice', password: 'alice-password' }
      const { code, error } = answer(await browser.submit(`${issuer}/connect/signin`, form))
      if (code === undefined) return error
      const grant = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, client_id: 'spa' }
      const body = new URLSearchParams({ ...grant, code_verifier: verifier })
      const response = await fetch(`${issuer}/connect/token`, { method: 'POST', body })
      const { access_token } = (await response.json()) as { readonly access_token: string }
      return JSON.parse(atob(access_token.split('.')[1] ?? '')).organization
    } finally {
      await server.close(0)
    }
  }

  test('21.87 tokens name the organization of users whose claims in the configuration have it', async () => {
    expect(await signedIn('acme')).toBe('acme')
  })

  test.each(['beta', 'unknown'])(
    '21.87 and a request for %s, of which they are not a member, is refused',
    async (name) => {
      expect(await signedIn(name)).toBe('access_denied')
    },
  )
})
