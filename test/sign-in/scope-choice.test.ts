import { describe, expect, test } from 'vitest'
import { answer } from '../authorization/browser.ts'
import { request, web } from '../authorization/parties.ts'
import { boxesOf, files, mail, setUpChoice, yes } from './choosing.ts'

const scope = 'openid profile api1 offline_access'

describe('a client whose users choose scopes', () => {
  test('11.36 gets those that the user has ticked, in the token response and the token', async () => {
    const { page, allow, redeem, post } = await setUpChoice(scope)
    expect(boxesOf(page)).toEqual({ profile: true, api1: true, offline_access: true })
    expect(page.html).toMatch(/<li>Know who you are<small>Required<\/small><\/li>/u)
    const { body } = await redeem(answer(await allow(yes('api1', 'offline_access'))).code)
    expect(body.scope).toBe('openid api1 offline_access')
    const { body: introspected } = await post('introspection', { token: body.access_token }, ['api1', 'api1-secret'])
    expect(introspected).toMatchObject({ active: true, scope: 'openid api1 offline_access' })
  })

  test('gets no refresh token without offline_access', async () => {
    const { allow, redeem } = await setUpChoice(scope)
    const { body } = await redeem(answer(await allow(yes('profile'))).code)
    expect(body.scope).toBe('openid profile')
    expect(body).not.toHaveProperty('refresh_token')
  })

  test.each([
    ['without openid', 'api1 profile', {}],
    ['with offline access only', 'api1 offline_access', yes('offline_access')],
  ])('gets no code if nothing is ticked %s: the page asks again', async (_name, asked, chosen) => {
    const { allow, again } = await setUpChoice(asked)
    const end = await allow(chosen)
    const { html } = end
    expect([end.status, end.headers.get('location')]).toEqual([200, null])
    expect(html).toContain('<p role="alert" id="problem">Choose something that you allow, or deny the request.</p>')
    expect(html).toContain('<fieldset aria-describedby="problem">')
    expect(boxesOf(end)).toMatchObject({ api1: false })
    expect(answer(await again({ prompt: 'none' })).error).toBe('consent_required')
  })

  test('gets the decision that follows on the page that asks again', async () => {
    const { allow, redeem } = await setUpChoice('api1 profile')
    const code = answer(await allow(yes('api1'), await allow({}))).code
    expect((await redeem(code)).body.scope).toBe('api1')
  })

  test('is remembered with what it got, and the next page begins with the same choice', async () => {
    const { allow, again } = await setUpChoice(scope)
    await allow(yes('api1'))
    expect(answer(await again({ prompt: 'none', scope: 'openid api1' }))).toHaveProperty('code')
    expect(answer(await again({ prompt: 'none' })).error).toBe('consent_required')
    expect(boxesOf(await again())).toEqual({ profile: false, api1: true, offline_access: false })
  })

  test('that asks for more shows all of it, with the new scope ticked', async () => {
    const { allow, again } = await setUpChoice('openid profile api1')
    await allow(yes('api1'))
    expect(boxesOf(await again({ scope }))).toEqual({ profile: false, api1: true, offline_access: true })
  })

  test('loses a scope that the user leaves out later', async () => {
    const { allow, again, submit } = await setUpChoice(scope)
    await allow(yes('profile', 'api1', 'offline_access'))
    expect(answer(await again({ prompt: 'none' }))).toHaveProperty('code')
    await submit('consent', { decision: 'allow', ...yes('profile') }, await again({ prompt: 'consent' }))
    expect(answer(await again({ prompt: 'none', scope: 'openid profile' }))).toHaveProperty('code')
    expect(answer(await again({ prompt: 'none', scope: 'openid api1' })).error).toBe('consent_required')
  })

  test.each([
    ['has no such setting', 'openid api1', { scopeChoice: undefined }, 0],
    [
      'has it turned off, although it has described itself',
      'api1 profile',
      { scopeChoice: false, selfDescribed: 'ask' },
      0,
    ],
    ['asks for one scope', 'api1', {}, 0],
    ['has described itself', 'api1 profile', { scopeChoice: undefined, selfDescribed: 'ask' }, 2],
  ] as const)('shows a choice unless it %s', async (_name, asked, change, boxes) => {
    const { page, allow, redeem } = await setUpChoice(asked, {}, change)
    expect(Object.keys(boxesOf(page))).toHaveLength(boxes)
    const { body } = await redeem(answer(await allow(boxes === 0 ? {} : yes('api1'))).code)
    expect(body.scope).toBe(boxes === 0 ? asked : 'api1')
  })

  test('can push its request', async () => {
    const f = await setUpChoice(scope)
    const { request_uri = '' } = (await f.post('pushedAuthorization', { ...request, scope }, web)).body as Record<
      string,
      string
    >
    const page = (await f.start({ request_uri, prompt: 'consent' }, f.browser)).page
    expect(boxesOf(page)).toEqual({ profile: true, api1: true, offline_access: true })
    const { body } = await f.redeem(answer(await f.allow(yes('api1'), page)).code)
    expect(body.scope).toBe('openid api1')
  })
})

describe('a request for a resource', () => {
  const resource = files

  test('11.35 shows its name, and only the scopes that a token for it can have', async () => {
    const appearance = { resources: { [files]: { en: 'Files MCP', de: 'Dateien' } } }
    const { page, redeem, allow } = await setUpChoice(
      'openid read files:write mail:send api1',
      { resource },
      {},
      appearance,
    )
    expect(page.html).toContain('<p id="resource">The access is for Files MCP (files.example.com/mcp).</p>')
    expect(boxesOf(page)).toEqual({ read: true, 'files:write': true })
    const { body } = await redeem(answer(await allow(yes('read', 'files:write', 'mail:send', 'api1'))).code)
    expect(body.scope).toBe('openid read files:write')
  })

  test('shows the address of an API that has no name', async () => {
    const { page } = await setUpChoice('read', { resource: 'HTTPS://Mail.example.com:443/mcp' })
    expect(page.html).toContain('The access is for mail.example.com/mcp.')
  })

  test('shows at each scope which API it is for, if there are several', async () => {
    const appearance = { resources: { [files]: 'Files MCP' } }
    const { page } = await setUpChoice('openid read files:write mail:send', {}, {}, appearance)
    expect(page.html).not.toContain('id="resource"')
    const small = [...page.html.matchAll(/<small>([^<]*)<\/small>/gu)].map(([, text]) => text)
    const named = 'Files MCP (files.example.com/mcp)'
    expect(small).toEqual(['Required', `${named}, mail.example.com/mcp`, named, 'mail.example.com/mcp'])
  })

  test('needs a scope of that resource', async () => {
    const { allow, redeem } = await setUpChoice('openid profile read files:write', { resource })
    const again = await allow(yes('profile'))
    expect(again.html).toContain('id="problem"')
    const { body } = await redeem(answer(await allow(yes('read'), again)).code, web, { resource })
    expect(body.scope).toBe('openid read')
  })

  test('gets a token for the resource that the user has not left out', async () => {
    const both = `${files} ${mail}`
    const { allow, redeem } = await setUpChoice('openid files:write mail:send', { resource: both })
    const code = answer(await allow(yes('mail:send'))).code
    const { body, claims } = await redeem(code).then(({ body }) => ({
      body,
      claims: JSON.parse(
        atob(String(body.access_token).split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? ''),
      ),
    }))
    expect([body.scope, claims.aud]).toEqual(['openid mail:send', mail])
  })
})
