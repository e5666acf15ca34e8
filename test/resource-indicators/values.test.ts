import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { cal, contacts, setUp } from './resource-parties.ts'

describe('RFC 8707 section 2: the value of resource', () => {
  const malformed: readonly [string, string, string][] = [
    ['a name', 'calendar', 'malformed'],
    ['a relative reference', '/calendar', 'malformed'],
    ['a network-path reference', '//cal.example.com/', 'malformed'],
    ['a URI with a fragment', `${cal}#top`, 'malformed'],
    ['a URI with an empty fragment', `${cal}#`, 'malformed'],
    ['a URI with a line break', `${cal}\n`, 'malformed'],
    ['a URI with a quotation mark', `${cal}"`, 'malformed'],
    ['a URI with a letter outside ASCII', 'https://cal.example.com/ſ', 'malformed'],
    ['a URI with a malformed escape', `${cal}%2`, 'malformed'],
    ['two spaces', `${cal}  ${cal}`, 'malformed'],
    ['a URI of 2,001 characters', cal.padEnd(2001, 'x'), 'too_long'],
    ['21 resources', Array.from({ length: 21 }, (_, index) => `${cal}${index}`).join(' '), 'too_many'],
    ['a thousand resources', Array.from({ length: 1000 }, () => 'a:').join(' '), 'too_many'],
  ]

  test.each(malformed)('rejects %s with invalid_target, at the token request', async (_, resource, reason) => {
    const { status, body, failure } = await (await setUp()).clientToken('calendar', resource)
    expect([status, failure]).toEqual([400, `plugin:resource-indicators:${reason}`])
    expect(body).toEqual({ error: 'invalid_target', error_description: 'The requested resource is not valid' })
  })

  test.each(malformed)('rejects %s with invalid_target, at the authorization', async (_, resource, reason) => {
    const { authorize } = await setUp()
    await expect(authorize(resource)).rejects.toMatchObject({
      code: 'invalid_target',
      details: { reason: `plugin:resource-indicators:${reason}` },
    })
  })

  test.each([
    ['a URN', 'urn:example:calendar'],
    ['a URI with a query', 'https://cal.example.com/?tenant=1'],
    ['a URI with an escape', 'https://cal.example.com/%20'],
    ['a URI with an IPv6 address', 'https://[2001:db8::1]:8443/'],
    ['a URI of 2,000 characters', cal.padEnd(2000, 'x')],
  ])('accepts %s', async (_, audience) => {
    const f = await setUp({ scopes: [{ name: 'calendar', audience }, { name: 'contacts' }, { name: 'unbound' }] })
    const { status, body } = await f.clientToken('calendar', audience)
    expect([status, claimsOf(body).aud]).toEqual([200, audience])
  })

  const mcp = 'https://mcp.example.com'
  test.each([
    ['an empty path', 'https://mcp.example.com/', mcp],
    ['no path', mcp, `${mcp}/`],
    ['another case of scheme and host', 'HTTPS://MCP.example.COM', mcp],
    ['the default port', 'https://mcp.example.com:443/tools', `${mcp}/tools`],
    ['no port', `${mcp}/tools`, 'https://mcp.example.com:443/tools'],
    ['escapes of unreserved characters', `${mcp}/%7Ealice/%61`, `${mcp}/~alice/a`],
    ['escapes in small letters', `${mcp}/a%2fb`, `${mcp}/a%2Fb`],
    ['dot segments', `${mcp}/a/./b/../tools`, `${mcp}/a/tools`],
    ['another case of the host of another scheme', 'mcp://TOOLS/a', 'MCP://tools/a'],
  ])('matches an equivalent URI, and the token has the registered form: %s', async (_, resource, audience) => {
    const f = await setUp({ scopes: [{ name: 'calendar', audience }, { name: 'contacts' }, { name: 'unbound' }] })
    const { status, body } = await f.clientToken('calendar contacts', resource)
    expect([status, body.scope, claimsOf(body).aud]).toEqual([200, 'calendar', audience])
    const code = await f.authorize(resource, { scopes: ['calendar', 'offline_access'] })
    const redeemed = (await f.redeem(code, resource)).body
    expect(claimsOf(redeemed).aud).toBe(audience)
    expect(claimsOf((await f.refresh(redeemed.refresh_token, resource)).body).aud).toBe(audience)
  })

  test.each([
    ['another path', `${mcp}/tools`, mcp],
    ['a final slash', `${mcp}/tools/`, `${mcp}/tools`],
    ['another case of the path', `${mcp}/Tools`, `${mcp}/tools`],
    ['an escape of a reserved character', `${mcp}/a%2Fb`, `${mcp}/a/b`],
    ['an empty query', `${mcp}/?`, mcp],
    ['another port', 'https://mcp.example.com:8443/', mcp],
    ['another scheme', 'http://mcp.example.com/', mcp],
    ['another host', 'https://mcp.example.com.evil.example/', mcp],
    ['a user', 'https://alice@mcp.example.com/', mcp],
    ['a URN with another name', 'urn:example:Tools', 'urn:example:tools'],
  ])('does not match another URI: %s', async (_, resource, audience) => {
    const f = await setUp({ scopes: [{ name: 'calendar', audience }, { name: 'contacts' }, { name: 'unbound' }] })
    expect((await f.clientToken('calendar', resource)).body.error).toBe('invalid_target')
  })

  test('means the audience that it equals, if two are equivalent', async () => {
    const scopes = [{ name: 'calendar', audience: mcp }, { name: 'contacts', audience: `${mcp}/` }, { name: 'unbound' }]
    const f = await setUp({ scopes })
    for (const resource of [mcp, `${mcp}/`]) {
      expect(claimsOf((await f.clientToken('calendar contacts', resource)).body).aud).toBe(resource)
    }
  })

  test('can repeat; the same value twice counts once', async () => {
    const { clientToken } = await setUp()
    const { body } = await clientToken('calendar contacts', cal, contacts, cal)
    expect(claimsOf(body).aud).toEqual([cal, contacts])
  })

  test('an empty one counts as omitted', async () => {
    const { clientToken } = await setUp()
    expect(claimsOf((await clientToken('calendar contacts', '')).body).aud).toEqual([cal, contacts])
  })

  test('a malformed resource is rejected although another one is valid', async () => {
    const { clientToken } = await setUp()
    expect((await clientToken('calendar', cal, `${cal}#x`)).body.error).toBe('invalid_target')
  })
})
