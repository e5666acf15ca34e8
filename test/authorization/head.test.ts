import { defineEndpoint, definePlugin } from '@grantry/core'
import { remoteInteractions } from '@grantry/plugins/authorization-endpoint'
import { describe, expect, test } from 'vitest'
import { createBrowser, setUpPage } from '../device-authorization/browser.ts'
import { setUp as setUpPush } from '../pushed-authorization/parties.ts'
import { builtInPlugins, fixture } from '../support/fixture.ts'
import { answer } from './browser.ts'
import { request, setUp } from './parties.ts'

const isCode = { code: expect.any(String), state: request.state }

/** Sends HEAD with the cookies of a browser, as a program that checks links does. */
async function head(
  { fetch }: { fetch(request: Request): Promise<Response> },
  url: string,
  jar: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
  const response = await fetch(new Request(url, { method: 'HEAD', headers: { cookie } }))
  expect([response.status, response.headers.getSetCookie(), await response.text()]).toEqual([200, [], ''])
}

describe('HEAD', () => {
  test('11.29 does not use a pushed request', async () => {
    const { browser, pushedUrl, provider } = await setUpPush()
    const url = await pushedUrl()
    await head(provider, url)
    expect(answer(await browser().open(url))).toMatchObject(isCode)
  })

  test('11.29 issues no code', async () => {
    const { urlOf, provider, events } = await setUp()
    await head(provider, urlOf(request))
    expect(events.some(({ type }) => type === 'code_issued')).toBe(false)
  })

  test('11.29 does not use the decision of a login application', async () => {
    const { browser, urlOf, provider } = await setUp({
      interact: async ({ suspend }) => ({ location: `https://login.example.net/?id=${(await suspend()).id}` }),
    })
    const user = browser()
    const id = (await user.open(urlOf(request))).url.searchParams.get('id') ?? ''
    const decision = { subject: { sub: 'alice', amr: ['pwd'] }, scopes: ['openid'] }
    const url = (await provider.use(remoteInteractions).complete(id, decision)) ?? ''
    await head(provider, url, user.jar)
    expect(answer(await user.open(url))).toMatchObject(isCode)
  })

  test('11.29 does not count as a guess of a code of a device', async () => {
    const { start, provider } = await setUpPage({})
    const { body } = await start()
    const url = `${provider.issuer}/connect/device?user_code=`
    for (let count = 0; count < 20; count += 1) await head(provider, `${url}BCDFGHJK`)
    const { token } = await createBrowser(provider, 'alice').open({ user_code: String(body.user_code) })
    expect(token).not.toBe('')
  })

  test('11.29 does not call an endpoint whose GET has an effect, and any other one', async () => {
    let calls = 0
    const probe = (name: string, effects: boolean | undefined) =>
      defineEndpoint({
        name,
        path: `/${name}`,
        methods: ['GET'],
        caller: 'anyone',
        effects,
        handle: () => ({ json: { calls: ++calls } }),
      })
    const plugin = definePlugin('probes', [probe('one', true), probe('two', false), probe('three', undefined)])
    const { provider } = await fixture({ plugins: [builtInPlugins, plugin] })
    for (const path of ['one', 'two', 'three']) await head(provider, `${provider.issuer}/${path}`)
    expect(calls).toBe(2)
    const malformed = definePlugin('probes', [probe('one', 'yes' as never)])
    await expect(fixture({ plugins: [builtInPlugins, malformed] })).rejects.toThrow('effects must be true or false')
  })
})
