import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { describeWithChromium } from '../support/chromium.ts'
import { demoInBrowser, openConsole } from './open-console.ts'

// Names of clients and users, responses of plugins and events can contain text from an attacker. The console shows it to
// an operator, so it must never become markup or script.

const attack = '<img src=x onerror="document.title=\'taken\'"><script>document.title="taken"</script>'

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const hostileJwt = `${part({ alg: attack, [attack]: 1 })}.${part({ sub: attack, [attack]: attack, exp: 9e99 })}.${part({})}`

const hostileResponse = {
  access_token: hostileJwt,
  refresh_token: attack,
  id_token: hostileJwt,
  scope: attack,
  error: attack,
  error_description: attack,
  [attack]: attack,
}

const hostileEvent = {
  id: 'a.1',
  type: 'token_issued',
  time: 9e99,
  family: attack,
  clientId: attack,
  grantType: attack,
  tokenType: attack,
  reason: attack,
  fingerprint: attack,
}

/** Expects that the text created no element, ran no script and is visible. */
async function assertOnlyText(page: Page): Promise<void> {
  expect(await page.locator('body img, body script, body [onerror]').count()).toBe(0)
  expect(await page.title()).toBe('Grantry console')
  expect(await page.locator('body').innerText()).toContain('<img src=x onerror=')
}

describeWithChromium('the console shows untrusted text as text', () => {
  const started = demoInBrowser()

  test.each([200, 400])('a response with markup in every value, with status %d', async (status) => {
    const console = await openConsole(started.page, started.demo.url, {
      prepare: (page) => page.route('**/connect/token', (route) => route.fulfill({ status, json: hostileResponse })),
    })
    await console.press('Request a token', new RegExp(`${status}:`, 'u'))
    await assertOnlyText(console.page)
    console.assertClean()
  })

  test('a response with an HTML content type', async () => {
    const console = await openConsole(started.page, started.demo.url, {
      prepare: (page) =>
        page.route('**/connect/token', (route) => route.fulfill({ contentType: 'text/html', body: attack })),
    })
    await console.press('Request a token', /200: done/u)
    await assertOnlyText(console.page)
  })

  test('names of clients, scopes, grants and users in the configuration', async () => {
    const name = { clientId: attack, public: false, grantTypes: [attack], scopes: [attack], redirectUris: [attack] }
    const json = {
      issuer: attack,
      paths: { token: '/connect/token' },
      clients: [name],
      grants: [{ grantType: attack, scope: 'required', fields: [{ name: attack, required: true }] }],
      apis: [attack],
      demo: {
        clients: { [attack]: attack },
        apis: {},
        users: [{ username: attack, password: attack }],
        fields: {},
      },
    }
    const console = await openConsole(started.page, started.demo.url, {
      prepare: (page) => page.route('**/console/setup.json', (route) => route.fulfill({ json })),
    })
    await assertOnlyText(console.page)
    console.assertClean()
  })

  test('an event', async () => {
    const console = await openConsole(started.page, started.demo.url, {
      prepare: (page) =>
        page.route('**/console/events', (route) =>
          route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(hostileEvent)}\n\n` }),
        ),
    })
    await expect.poll(() => console.page.locator('#timeline').innerText()).toContain('Family <img')
    await assertOnlyText(console.page)
  })

  test('the policy blocks attacks even if the page has a bug', async () => {
    const console = await openConsole(started.page, started.demo.url)
    const { page } = console
    const refused = await page.evaluate(async () => {
      const tries: Record<string, () => unknown> = {
        markup: () => {
          document.body.innerHTML = '<b>x</b>'
        },
        elsewhere: () => fetch('http://127.0.0.1:1/'),
      }
      const failed: string[] = []
      for (const [name, attempt] of Object.entries(tries)) {
        try {
          await attempt()
        } catch {
          failed.push(name)
        }
      }
      const script = document.createElement('script')
      script.append('document.title = "taken"')
      document.body.append(script)
      return failed
    })
    expect(await page.title()).toBe('Grantry console')
    expect(refused).toEqual(['markup', 'elsewhere'])
    expect(console.problems.join('\n')).toContain('policy: ')
  })

  test('a page of another site can neither embed nor read it', async () => {
    const context = await started.browser.newContext()
    const page = await context.newPage()
    await page.route('http://attacker.example/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${started.demo.url}"></iframe>` }),
    )
    const framed = page.waitForResponse(started.demo.url).catch(() => undefined)
    await page.goto('http://attacker.example/')
    const read = await page.evaluate(
      (url) =>
        fetch(`${url}/setup.json`).then(
          (response) => response.status,
          () => 'refused',
        ),
      started.demo.url,
    )
    expect(read).toBe('refused')
    await context.close()
    expect((await framed)?.status() ?? 403).toBe(403)
  })
})
