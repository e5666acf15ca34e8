// Attack: a stranger registers a client, or publishes a document of one, with the name and the logo of another service, and lets a
// user approve its device. The consent page says that such an application has chosen its name itself, and who publishes it; the
// page for devices must, too.
import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { clientMetadata } from '@grantry/plugins/client-metadata'
import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { expect, test } from 'vitest'
import { createBrowser, type Page } from '../authorization/browser.ts'
import { alice, setUp } from '../device-authorization/parties.ts'

const stranger: ClientOptions = {
  clientId: 'https://evil.example/tv.json',
  public: true,
  grantTypes: [deviceGrantType],
  scopes: ['api1'],
  clientName: 'Bank of Example',
  clientUri: 'https://bank.example/',
  selfDescribed: 'ask',
}

/** What the page says about a client. */
async function shownFor(client: ClientOptions, pages: ReturnType<typeof createPages> | undefined): Promise<Page> {
  const page = { signIn: () => alice, ...(pages !== undefined && { pages }) }
  const { start, provider } = await setUp({
    plugins: [deviceAuthorization({ page }), clientMetadata({ scopes: ['api1'], otherHosts: 'refuse' })],
    clients: [client],
  })
  const { body } = await start({ scope: 'api1', client_id: client.clientId }, null)
  return createBrowser(provider).open(body.verification_uri_complete)
}

const looks = [
  ['the pages of createPages()', createPages({ locales: ['en'] })],
  ['the plain page', undefined],
] as const

test.each(looks)(
  '%s name the host of a client that has described itself, and that it is not checked',
  async (_, pages) => {
    const { html } = await shownFor(stranger, pages)
    expect(html).toContain('Bank of Example')
    expect(html).toMatch(/id="origin">.*evil\.example/su)
    expect(html).toContain('This service has not checked the application.')
  },
)

test.each(looks)('%s say nothing of the kind about a client of the operator', async (_, pages) => {
  const { selfDescribed: _self, ...ofOperator } = stranger
  expect((await shownFor({ ...ofOperator, clientId: 'own' }, pages)).html).not.toContain('id="origin"')
})

test('the pages of createPages() name the home page of a client that has registered itself', async () => {
  const { html } = await shownFor({ ...stranger, clientId: 'registered-1' }, looks[0][1])
  expect(html).toMatch(/It names <strong dir="ltr">bank\.example<\/strong> as its home page/u)
})
