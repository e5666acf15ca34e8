import type { IdJagOptions } from '@grantry/plugins/id-jag'
import { idJag } from '@grantry/plugins/id-jag'
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { chatServer, idp, key } from './jag-parties.ts'

const subOf = async (f: Awaited<ReturnType<typeof chatServer>>, claims: Readonly<Record<string, unknown>> = {}) => {
  const { status, body } = await f.redeem(await f.signed(claims))
  return status === 200 ? decodeJwt(body.access_token).sub : body.error
}

describe('the user of an assertion', () => {
  test('is by default one whom only this issuer can name', async () => {
    const f = await chatServer()
    const sub = await subOf(f)
    expect(sub).toMatch(/^[\w-]{43}$/u)
    expect(await subOf(f, { email: 'bob@chat.example' })).toBe(sub)
    expect(await subOf(f, { sub: 'U2' })).not.toBe(sub)
  })

  test('is another one for each tenant', async () => {
    const f = await chatServer({ tenants: ['acme', 'evil'] })
    const [first, second] = [await subOf(f, { tenant: 'acme' }), await subOf(f, { tenant: 'evil' })]
    expect(first).not.toBe(second)
    expect(await subOf(f, { tenant: 'unknown' })).toBe('invalid_grant')
    expect(await subOf(f)).toBe('invalid_grant')
  })

  test('is that of the issuer if the users are the same', async () => {
    expect(await subOf(await chatServer({ subject: 'same' }))).toBe('U019488227')
  })

  test('is the one that the mapping returns', async () => {
    const calls: unknown[] = []
    const subject: NonNullable<IdJagOptions['accept']>['subject'] = ({ iss, sub, email }, { clientId }) => {
      calls.push([iss, sub, email, clientId])
      return sub === 'U019488227' ? { sub: 'user-17', amr: ['pwd'], idp: iss } : undefined
    }
    const f = await chatServer({}, { subject })
    expect(await subOf(f, { email: 'a@b.example' })).toBe('user-17')
    expect(await f.outcomeOf(await f.signed({ sub: 'U2' }))).toBe('subject_unknown')
    expect(calls).toEqual([
      [idp, 'U019488227', 'a@b.example', 'f53f191f9311af35'],
      [idp, 'U2', undefined, 'f53f191f9311af35'],
    ])
  })

  test('is refused if inactive here', async () => {
    const f = await chatServer({ subject: 'same' }, {}, { users: { isActive: (sub) => sub !== 'U019488227' } })
    expect(await f.outcomeOf(await f.signed())).toBe('user_inactive')
    expect(await f.outcomeOf(await f.signed({ sub: 'U2' }))).toBe('accepted')
  })
})

describe('the scopes of an issuer', () => {
  test('limit its assertions', async () => {
    const f = await chatServer({ scopes: ['chat.read'] })
    const { body } = await f.redeem(await f.signed())
    expect(body.scope).toBe('chat.read')
  })

  test('are those of an assertion without scope', async () => {
    const f = await chatServer({ scopes: ['chat.read'] })
    const { body } = await f.redeem(await f.signed({ scope: undefined }))
    expect(body.scope).toBe('chat.read')
  })
})

test('an assertion without resource can be allowed', async () => {
  const f = await chatServer({}, { requireResource: false })
  expect(await f.outcomeOf(await f.signed({ resource: undefined }))).toBe('accepted')
})

describe('a mistake in the options', () => {
  const issuer = { issuer: idp, jwks: { keys: [key.jwk] } }
  const server = (more: object = {}) => ({
    issuer: 'https://auth.chat.example',
    resources: ['https://mcp.chat.example/mcp'],
    clients: [{ clientId: 'agent', scopes: ['chat.read'] }],
    ...more,
  })
  test.each<[string, object, RegExp]>([
    ['no side', {}, /idJag\(\): set accept, issue or both/u],
    ['no issuers', { accept: { issuers: [] } }, /accept\.issuers must not be empty/u],
    [
      'an issuer without keys',
      { accept: { issuers: [{ issuer: idp }] } },
      /idJag\(\): accept: issuers\[0\] must have either/u,
    ],
    [
      'one user for several tenants',
      { accept: { issuers: [{ ...issuer, subject: 'same', tenants: ['a', 'b'] }] } },
      /accept\.issuers\[0\]\.subject cannot be "same" with several tenants/u,
    ],
    [
      'an issuer that no token can name',
      { accept: { issuers: [{ ...issuer, issuer: `https://${'a'.repeat(200)}.example` }] } },
      /accept\.issuers\[0\]\.issuer must have at most 200 characters/u,
    ],
    [
      'an option of other assertions',
      { accept: { issuers: [{ ...issuer, requireJti: false }] } },
      /requireJti is not a known option/u,
    ],
    ['an audience', { accept: { issuers: [{ ...issuer, audience: ['x'] }] } }, /audience is not a known option/u],
    [
      'a mapping that is no function',
      { accept: { issuers: [issuer], subject: 'email' } },
      /accept\.subject must be a function/u,
    ],
    [
      'an unknown way to users',
      { accept: { issuers: [{ ...issuer, subject: 'email' }] } },
      /must be "derived" or "same"/u,
    ],
    [
      'a server without clients',
      { issue: { servers: [server({ clients: [] })] } },
      /issue\.servers\[0\]\.clients must not be empty/u,
    ],
    [
      'a client without scopes',
      { issue: { servers: [server({ clients: [{ clientId: 'agent', scopes: [] }] })] } },
      /scopes must not be empty/u,
    ],
    [
      'a server twice',
      { issue: { servers: [server(), server({ issuer: 'https://auth.chat.example/' })] } },
      /issue\.servers\[1\]\.issuer is the same/u,
    ],
    [
      'a client twice',
      { issue: { servers: [server({ clients: [1, 2].map(() => ({ clientId: 'a', scopes: ['x'] })) })] } },
      /clients\[1\]\.clientId is the same/u,
    ],
    [
      'a lifetime of a day',
      { issue: { servers: [server()], lifetime: 86_400 } },
      /issue\.lifetime must be 30 to 3600 seconds/u,
    ],
    [
      'an issuer that is no URL',
      { issue: { servers: [server({ issuer: 'chat' })] } },
      /issue\.servers\[0\]\.issuer must be a URL/u,
    ],
  ])('is reported at startup: %s', (_, options, message) => {
    expect(() => idJag(options as IdJagOptions)).toThrow(message)
  })
})
