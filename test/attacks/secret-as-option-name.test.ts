// Attack: an operator pastes a secret where the name of an option belongs, as in { "clients": [{ "<secret>": "web" }] }.
// The error of the refused start quotes names that it does not know, and ends up in the log, where others read it.
import { createProvider, type ProviderOptions, parseConfiguration, signingKeys } from '@grantry/core'
import { createPages, pagesSchema } from '@grantry/pages'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mtls } from '@grantry/plugins/mtls'
import { signIn } from '@grantry/plugins/sign-in'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const client = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}

const options: ProviderOptions = {
  issuer: 'https://id.example.com',
  keys: signingKeys(),
  storage: mapDriver(),
  clients: [client],
  scopes: [{ name: 'api1' }],
  plugins: [clientCredentials()],
}

const messageOf = async (act: () => unknown): Promise<string> => {
  try {
    await act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('It was accepted')
}

const start = (wrong: object) => messageOf(() => createProvider({ ...options, ...wrong }))

// Each as its issuer creates it.
const secrets: Readonly<Record<string, string>> = {
  base64url: 'pX3fM9vQ2-tLq8ZbN0yRk_5uHcWjSdEoGi7TaBxVnKw',
  'another in base64url': 'RkuHcWjSdEoGiTaBxVnKwpXfMvQ',
  base64: 'tLq8ZbN0yRk5uHcWjSdEoGi7TaBxVnKw/+XfM9vQ2A==',
  hex: 'd33e08f26c2b4f1a9f7e5c0b8a614d27',
  'a UUID': '0b91f6a4-7c3e-4d58-9a2f-e1c6b8d40f73',
  base32: 'JBSWY3DPEHPK3PXPKRUGKIDJNFXGK2LU',
  'a SHA-256': sha256Of('web-secret'),
  'a token of a code host': 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'a key of a payment service': 'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  'a password with special characters': 'Tr0ub4dor&3',
  'a passphrase with spaces': 'correct horse battery staple',
  'a URL with a password': 'postgresql://grantry:the-password@127.0.0.1/grantry',
  'lower-case letters': 'qzkvxwpjtrbnmlhgfdscqwvbnmzxlk',
  'a JWT': 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'a long text': 'word-'.repeat(20_000),
}

describe.each(Object.entries(secrets))('%s as the name of an option is not in the error', (_what, secret) => {
  test.each<[string, () => Promise<string>]>([
    ['at the top level', () => start({ [secret]: 'x' })],
    ['of a client', () => start({ clients: [{ ...client, [secret]: 'x' }] })],
    ['of a client, beside another mistake', () => start({ clients: [{ ...client, clientld: 'x', [secret]: 'x' }] })],
    ['of a secret', () => start({ clients: [{ ...client, secrets: [{ [secret]: 'x' }] }] })],
    ['in endpoints', () => start({ endpoints: { [secret]: false } })],
    ['in endpoints, with a wrong value', () => start({ endpoints: { [secret]: 1 } })],
    ['of a plugin', () => messageOf(() => mtls({ [secret]: 'x' }))],
    ['of an alias', () => messageOf(() => mtls({ endpointAliases: { [secret]: 'x' } }))],
    ['of a part', () => start({ plugins: [{ kind: 'fields', [secret]: 'x' } as never] })],
    ['of the sign-in', () => messageOf(() => signIn({ pages: createPages(), [secret]: 'x' }))],
    ['of a text', () => messageOf(() => createPages({ messages: { en: { [secret]: 'x' } } }))],
    [
      'of a scope that the pages describe',
      () => messageOf(() => parseConfiguration(pagesSchema, { scopes: { [secret]: 1 } }, '')),
    ],
  ])('%s', async (_where, refused) => {
    const message = await refused()
    expect(message).not.toContain(secret)
    expect(message.length).toBeLessThan(1000)
  })
})

test.each([
  'clientld',
  'client_secret',
  'x',
  'id_token_signed_response_alg',
  '$schema',
  'idTokenTTL',
  'sha265',
  'api-key2',
  'https://api.example.com/read',
])('a name that looks like one is in the error: %s', async (name) => {
  expect(await start({ [name]: 'x' })).toMatch(`createProvider(): ${name} is not a known option`)
})

test('the error says where the option is', async () => {
  expect(await start({ clients: [{ ...client, [secrets.hex ?? '']: 'x' }] })).toMatch(
    /^clients\[0\] \("[\w-]+"\): <name not shown: it could be a secret> is not a known option here; known options: clientId, /u,
  )
})
