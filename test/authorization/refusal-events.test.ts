import { createPages } from '@grantry/pages'
import { endSession } from '@grantry/plugins/end-session'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { describe, expect, test } from 'vitest'
import { redirectUri, request, setUp, web } from './parties.ts'

const idOf = (html: string): string | undefined => /id="request">([^<]*)</u.exec(html)?.[1]

describe('the event of a refused authorization', () => {
  test('names the client, what it sent and what is registered', async () => {
    const { browser, urlOf, events } = await setUp()
    await browser().open(urlOf({ ...request, redirect_uri: 'https://client.example.com/calback' }))
    expect(events.at(-1)).toMatchObject({
      type: 'endpoint_failed',
      clientId: 'web',
      detail:
        'sent: https://client.example.com/calback; registered: https://client.example.com/callback, https://client.example.com/other?…',
    })
  })

  test.each([
    ['an unknown response_type', { response_type: 'token' }],
    ['an unknown prompt', { prompt: 'x' }],
    ['a user who must sign in', { prompt: 'none' }],
  ])('names the client for %s', async (_, changed) => {
    const { browser, urlOf, events } = await setUp({ interact: () => ({ refuse: 'login_required' }) })
    await browser().open(urlOf({ ...request, ...changed }))
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', clientId: 'web' })
  })

  test('names the client of a pushed request', async () => {
    const { post, events } = await setUp(undefined, { features: [pushedAuthorization()] })
    await post('pushedAuthorization', { ...request, redirect_uri: 'https://client.example.com/calback' }, web)
    expect(events.at(-1)).toMatchObject({ clientId: 'web', detail: expect.stringMatching(/^sent: .+; registered: /u) })
  })

  test('names the client and the URIs of a logout', async () => {
    const { provider, events } = await setUp(undefined, { features: [endSession({ pages: createPages() })] })
    const uri = 'https://client.example.com/bye'
    const query = new URLSearchParams({ client_id: 'web', post_logout_redirect_uri: uri })
    await provider.fetch(new Request(`${provider.issuer}/connect/endsession?${query}`))
    expect(events.at(-1)).toMatchObject({ clientId: 'web', detail: `sent: ${uri}; none is registered` })
  })

  test('names the URIs of a code that is redeemed with another one', async () => {
    const { browser, urlOf, redeem, events } = await setUp()
    const { url } = await browser().open(urlOf(request))
    await redeem(url.searchParams.get('code') ?? '', web, { redirect_uri: `${redirectUri}/` })
    expect(events.at(-1)).toMatchObject({
      clientId: 'web',
      detail: `sent: ${redirectUri}/; the code is for: ${redirectUri}`,
    })
  })
})

describe('the reference of an error page', () => {
  test.each([
    ['plain', undefined],
    ['ready', createPages()],
  ])('is the request id of the events, on the %s page', async (_, pages) => {
    const { browser, urlOf, events } = await setUp(undefined, pages === undefined ? {} : { pages })
    const { html } = await browser().open(urlOf({ ...request, redirect_uri: 'https://evil.example' }))
    expect(idOf(html)).toBe(events.at(-1)?.requestId)
    expect(idOf(html)).toMatch(/^[\w-]{12}$/u)
  })

  test('is the request id on the page of a logout', async () => {
    const { provider, events } = await setUp(undefined, { features: [endSession({ pages: createPages() })] })
    const response = await provider.fetch(new Request(`${provider.issuer}/connect/endsession?client_id=x`))
    expect(idOf(await response.text())).toBe(events.at(-1)?.requestId)
  })
})
