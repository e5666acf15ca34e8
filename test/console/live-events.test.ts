import type { ProviderEvent } from '@grantry/core'
import { describe, expect, test, vi } from 'vitest'
import { createLiveEvents, type LiveEvents } from '../../packages/console/src/live-events.ts'
import { fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

const request = (headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
  new Request('http://127.0.0.1/console/events', { headers, ...(signal && { signal }) })

const event = (id: string): ProviderEvent => ({
  type: 'family_revoked',
  reason: 'refresh_reused',
  id,
  requestId: id,
  time: 1,
})

/** Reads a stream to its end. */
async function textOf(response: Response): Promise<string> {
  return response.text()
}

const idsIn = (text: string): readonly string[] => [...text.matchAll(/^id: (.*)$/gmu)].map(([, id = '']) => id)

/** Returns what a page receives that connects after these events. */
async function caughtUp(live: LiveEvents): Promise<string> {
  const response = live.listen(request())
  live.close()
  return textOf(response)
}

describe('live events', () => {
  test('are sent to every page in order', async () => {
    const live = createLiveEvents()
    const [first, second] = [live.listen(request()), live.listen(request())]
    for (const id of ['a.1', 'a.2', 'b.1']) live.publish(event(id))
    live.close()
    expect(idsIn(await textOf(first))).toEqual(['a.1', 'a.2', 'b.1'])
    expect(idsIn(await textOf(second))).toEqual(['a.1', 'a.2', 'b.1'])
    expect(first.headers.get('content-type')).toBe('text/event-stream')
  })

  test('are repeated to a page that reconnects', async () => {
    const live = createLiveEvents()
    for (const id of ['a.1', 'a.2', 'b.1']) live.publish(event(id))
    const back = live.listen(request({ 'last-event-id': 'a.1' }))
    const unknownId = live.listen(request({ 'last-event-id': 'x.1' }))
    live.close()
    expect(idsIn(await textOf(back))).toEqual(['a.2', 'b.1'])
    expect(idsIn(await textOf(unknownId))).toEqual(['a.1', 'a.2', 'b.1'])
  })

  test('end within 30 seconds for an administrator, who proves again to be one, and loses no event', async () => {
    vi.useFakeTimers()
    try {
      const live = createLiveEvents()
      const [ofAdministrator, open] = [live.listen(request(), true), live.listen(request())]
      live.publish(event('a.1'))
      vi.advanceTimersByTime(30_000)
      live.publish(event('a.2'))
      expect(idsIn(await textOf(ofAdministrator))).toEqual(['a.1'])
      const back = live.listen(request({ 'last-event-id': 'a.1' }), true)
      live.close()
      expect(idsIn(await textOf(back))).toEqual(['a.2'])
      expect(idsIn(await textOf(open))).toEqual(['a.1', 'a.2'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('are kept up to a limit', async () => {
    const live = createLiveEvents()
    for (let count = 0; count < 1000; count += 1) live.publish(event(`a.${count}`))
    const ids = idsIn(await caughtUp(live))
    expect(ids).toHaveLength(200)
    expect(ids.at(-1)).toBe('a.999')
  })

  test('are sent to a limited number of pages, and a closed page frees its slot', () => {
    const live = createLiveEvents()
    const gone = new AbortController()
    const responses = [live.listen(request({}, gone.signal))]
    for (let count = 0; count < 1000; count += 1) responses.push(live.listen(request()))
    const statuses = responses.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(8)
    expect(statuses.filter((status) => status === 503)).toHaveLength(993)
    gone.abort()
    expect(live.listen(request()).status).toBe(200)
    expect(live.listen(request()).status).toBe(503)
    live.close()
  })

  test('disconnect a page that does not read, and continue for the others', async () => {
    const live = createLiveEvents()
    const stuck = live.listen(request())
    for (let count = 0; count < 2000; count += 1) live.publish(event(`a.${count}`))
    const reading = live.listen(request({ 'last-event-id': 'a.1999' }))
    live.publish(event('b.1'))
    live.close()
    const received = idsIn(await textOf(stuck))
    expect(received.length).toBeLessThan(520)
    expect(received).not.toContain('b.1')
    expect(idsIn(await textOf(reading))).toEqual(['b.1'])
  })

  test('end when the server closes, and cannot start afterwards', async () => {
    const live = createLiveEvents()
    const response = live.listen(request())
    live.close()
    expect(await textOf(response)).toContain(': hello')
    expect(live.listen(request()).status).toBe(503)
  })
})

test('the event stream contains no token, code, secret, password, user or address', async () => {
  const live = createLiveEvents()
  const f = await fixture()
  const form = {
    grant_type: 'authorization_code',
    code: await f.code({ clientId: 'web-jwt' }),
    redirect_uri: redirectUri,
  }
  const { body } = await f.post('token', form, webJwt)
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token }
  const { body: next } = await f.post('token', refresh, webJwt)
  await f.post('token', { ...refresh, scope: 'api1' }, webJwt)
  await f.post('token', { grant_type: 'password', username: 'alice', password: 'wrong-password', scope: 'api1' }, web)
  const { body: alone } = await f.post('token', { grant_type: 'client_credentials', scope: 'api2' }, web)
  await f.post('revocation', { token: alone.access_token }, web)
  await f.post('token', { grant_type: 'client_credentials', scope: 'api2' }, ['web', 'wrong-secret'])
  for (const observed of f.events) live.publish(observed)
  const received = await caughtUp(live)
  const types = [...received.matchAll(/"type":"(\w+)"/gu)].map(([, type]) => type)
  expect(new Set(types)).toEqual(
    new Set([
      'code_issued',
      'code_redeemed',
      'token_issued',
      'refresh_rotated',
      'refresh_reused',
      'family_revoked',
      'token_revoked',
    ]),
  )
  const secrets = [...Object.values(body), ...Object.values(next), alone.access_token, form.code, web[1], webJwt[1]]
  const long = secrets.filter((value): value is string => typeof value === 'string' && value.length > 8)
  expect(long.length).toBeGreaterThan(8)
  // The scope of a response is not a secret, but is not sent either.
  for (const secret of [...long, 'wrong-password', 'wrong-secret', 'alice', '"sub"', 'Address']) {
    expect(received).not.toContain(secret)
  }
})
