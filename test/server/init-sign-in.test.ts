import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { sharedDirectory } from '../support/directory.ts'
import { startServer } from '../support/patient-server.ts'
import { printed } from './printed.ts'

const base = sharedDirectory('init-sign-in')

test('init --sign-in prints a URL with which the printed user signs in', async () => {
  const directory = join(base, 'signs-in')
  const { code, out } = await printed('init', directory, '--sign-in', 'bob')
  expect(code).toBe(0)
  const file = join(directory, 'grantry.config.json')
  const { findings } = JSON.parse((await printed('check', '--json', '--config', file)).out)
  expect(findings.map(({ id }: { id: string }) => id)).toEqual(['issuer-loopback'])

  const server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe: () => {} })
  onTestFinished(() => server.close(0))
  const [, url = ''] = /^ {2}(http:\S+\/connect\/authorize\S+)$/mu.exec(out) ?? []
  const [, password = ''] = /^ {2}user bob, password (\S+)$/mu.exec(out) ?? []
  const [, secret = ''] = /^ {2}client web, secret +(\S+)$/mu.exec(out) ?? []
  const { issuer } = server.provider
  const browser = createBrowser(server.provider)
  const page = await browser.open(url)
  const [, action = ''] = /<form[^>]* action="([^"]*)"/u.exec(page.html) ?? []
  const consent = await browser.submit(new URL(action, issuer).href, {
    ...hiddenFields(page),
    username: 'bob',
    password,
  })
  const [, consentAction = ''] = /<form[^>]* action="([^"]*)"/u.exec(consent.html) ?? []
  const form = { ...hiddenFields(consent), decision: 'allow' }
  const { url: authorized } = await browser.submit(new URL(consentAction, issuer).href, form)
  expect(`${authorized.origin}${authorized.pathname}`).toBe(`${issuer}/`)
  const issued = await server.provider.fetch(
    new Request(`${issuer}/connect/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`web:${secret}`)}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code: authorized.searchParams.get('code') ?? '',
        redirect_uri: `${issuer}/`,
      }),
    }),
  )
  expect(await issued.json()).toMatchObject({ id_token: expect.any(String) })
  for (const each of [password, secret]) expect(readFileSync(file, 'utf8')).not.toContain(each)
})

test('init --sign-in without a name and a terminal creates alice', async () => {
  const { code, out } = await printed('init', join(base, 'unnamed'), '--sign-in')
  expect([code, out]).toEqual([0, expect.stringMatching(/^ {2}user alice, password \S{20}$/mu)])
})

test.each([['a"b'], ['a\nb'], [' '], ['x'.repeat(101)]])('init --sign-in refuses the name %j', async (name) => {
  const directory = join(base, 'refused')
  const { code, err } = await printed('init', directory, '--sign-in', name)
  expect([code, err]).toEqual([1, expect.stringMatching(/^grantry: --sign-in: the name of a user must be [^\n]+\n$/u)])
})
