import { defineEndpoint, definePlugin, type Endpoint, OAuthError } from '@grantry/core'
import { createTestProvider, mapDriver } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

const refusal = new OAuthError('slow_down', 'Wait', { reason: 'plugin:shop:busy', status: 429, retryAfter: 7 })

const setUp = async (
  presentError: Endpoint['presentError'],
  handle: () => never = () => {
    throw refusal
  },
) =>
  createTestProvider({
    plugins: [
      definePlugin('shop', [
        defineEndpoint({
          name: 'shop',
          path: '/shop',
          methods: ['GET'],
          caller: 'anyone',
          params: v.object({ item: v.optional(v.pipe(v.string(), v.maxLength(5))) }),
          presentError,
          handle,
        }),
      ]),
    ],
  })

const page: Endpoint['presentError'] = ({ code, details }, request, kit) => ({
  html: `<p>${code} ${details.reason} ${request.method} ${kit.issuer}</p>`,
})

describe('an endpoint with presentError', () => {
  test('shows a refusal of its own, with the status and headers of the error', async () => {
    const { get, events } = await setUp(page)
    const { status, headers, body } = await get('shop')
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(body).toBe('<p>slow_down plugin:shop:busy GET https://id.example.com</p>')
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'plugin:shop:busy', status: 429 })
  })

  test('1.102 shows a page without a challenge, for which a browser would ask its user for a password', async () => {
    const { get } = await setUp(page, () => {
      throw new OAuthError('invalid_client', 'Unknown', { reason: 'plugin:shop:unknown' })
    })
    const { status, headers, body } = await get('shop')
    expect([status, headers.get('www-authenticate')]).toEqual([400, null])
    expect(body).toContain('invalid_client plugin:shop:unknown')
  })

  test.each([
    ['a malformed parameter', { item: 'too long' }, 'parameter_malformed'],
    ['an overlong query', { item: 'x'.repeat(100_000) }, 'query_too_long'],
  ])('shows %s', async (_what, query, reason) => {
    const { get } = await setUp(page)
    expect((await get('shop', query)).body).toContain(reason)
  })

  test('shows a repeated parameter and a method that is not allowed, with Allow', async () => {
    const { provider } = await setUp(page)
    const repeated = await provider.fetch(new Request('https://id.example.com/shop?item=1&item=2'))
    expect(await repeated.text()).toContain('repeated_parameter')
    const post = await provider.fetch(new Request('https://id.example.com/shop', { method: 'POST' }))
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    expect(await post.text()).toContain('method_not_allowed')
  })

  test('shows a defect without its message, and reports it', async () => {
    const { get, events } = await setUp(page, () => {
      throw new Error('password=secret')
    })
    const { status, body } = await get('shop')
    expect([status, body.includes('secret'), body.includes('server_error')]).toEqual([500, false, true])
    expect(events).toContainEqual(expect.objectContaining({ type: 'unhandled_failure', reason: 'unhandled_failure' }))
  })

  test('shows a failure of the storage, with Retry-After and without its message', async () => {
    const driver = mapDriver()
    let isDown = false
    const storage = {
      ...driver,
      getItem(key: string) {
        if (isDown) throw new Error('password=secret')
        return driver.getItem(key)
      },
    }
    const reading = defineEndpoint({
      name: 'shop',
      path: '/shop',
      methods: ['GET'],
      caller: 'anyone',
      presentError: page,
      handle: async (_, kit) => ({ html: `<p>${await kit.records.get('x', v.string())}</p>` }),
    })
    const { get, provider } = await createTestProvider({ plugins: [definePlugin('shop', [reading])], storage })
    isDown = true
    const { status, headers, body } = await get('shop')
    expect([status, body.includes('temporarily_unavailable'), body.includes('secret')]).toEqual([503, true, false])
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/u)
    const head = await provider.fetch(new Request('https://id.example.com/shop', { method: 'HEAD' }))
    expect([head.status, await head.text()]).toEqual([503, ''])
  })

  test.each<[string, Endpoint['presentError']]>([
    [
      'throws',
      () => {
        throw new Error('defect')
      },
    ],
    ['returns nothing', () => undefined as never],
    ['returns JSON', () => ({ json: {} })],
    ['returns a status', () => ({ html: '', status: 200 })],
  ])('falls back to JSON if it %s', async (_what, presentError) => {
    const { get, events } = await setUp(presentError)
    const { status, body } = await get('shop')
    expect([status, body]).toEqual([429, { error: 'slow_down', error_description: 'Wait' }])
    expect(events).toContainEqual(expect.objectContaining({ reason: 'error_not_presented' }))
  })

  test('is refused at startup for callers that are not people', async () => {
    const endpoint = defineEndpoint({
      name: 'x',
      path: '/x',
      methods: ['POST'],
      caller: 'client',
      presentError: page,
      handle: () => ({}),
    })
    const starting = createTestProvider({ plugins: [definePlugin('p', [endpoint])] })
    await expect(starting).rejects.toThrow('the endpoint x of p has presentError, which belongs to')
  })
})
