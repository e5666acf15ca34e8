import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseLog } from '../observability/log-lines.ts'
import { sharedDirectory } from '../support/directory.ts'
import { printed } from './printed.ts'

const base = sharedDirectory('startup-warnings')
const code = { clientId: 'web', public: true, grantTypes: ['authorization_code'], redirectUris: ['https://a.example/'] }

test.each([
  ['a client without a sign-in', { clients: [code] }, ['sign_in_missing']],
  ['a client with a login page elsewhere', { clients: [code], authorizationEndpoint: 'https://a.example/login' }, []],
  ['a disabled client', { clients: [{ ...code, enabled: false }] }, []],
  [
    'clients that register themselves without a sign-in',
    { plugins: [{ name: 'registration', scopes: ['openid'] }] },
    ['sign_in_missing'],
  ],
  ['a sign-in without users', { clients: [code], plugins: [{ name: 'sign-in' }] }, ['users_missing']],
  [
    'passkeys at an address',
    {
      issuer: 'http://127.0.0.1:1',
      trustedProxies: 1,
      plugins: [{ name: 'sign-in', passkeys: true, account: {} }],
    },
    ['passkeys_at_address', 'users_missing'],
  ],
  ['another port than that of the issuer', { issuer: 'http://127.0.0.1:1' }, ['issuer_port_mismatch']],
  ['a proxy on the port of the issuer', { issuer: 'http://127.0.0.1:1', trustedProxies: 1 }, []],
])('the server warns at start about %s', async (what, more, reasons) => {
  const file = join(base, `${what}.json`)
  const endpoints = { accessTokenValidation: false }
  const storage = { driver: 'memory' }
  writeFileSync(file, JSON.stringify({ issuer: 'https://id.example.com', storage, endpoints, clients: [], ...more }))
  const { code: exit, err } = await printed('serve', '--port', '0', '--config', file, '--log-format', 'json')
  expect(exit).toBe(0)
  const warnings = parseLog(err).filter(({ type }) => type === 'startup_warning')
  expect(warnings.map(({ reason }) => reason)).toEqual(reasons)
})
