// The last part of the guide to the first plugin: its plugin in a server, with the commands that the guide names.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { codeBlocks, root } from '../docs/code-blocks.ts'
import { startServer } from '../support/patient-server.ts'
import { newDirectory } from '../support/server-program.ts'
import { printed } from './printed.ts'

const guide = 'docs/guides/first-plugin.md'

/** The plugin and the mailbox of the guide, without the test, which prints the link. */
function pluginModule(): string {
  const { code = '' } = codeBlocks(guide).find((block) => block.code.includes("'magic-link'")) ?? {}
  const [plugin = ''] = code.split('const mails')
  return `${plugin
    .replace(/^import .*@grantry\/testing'\n/mu, '')
    .replace("'@grantry/core'", `'${root}packages/core/src/index.ts'`)
    .replace("'valibot'", `'${createRequire(import.meta.url).resolve('valibot')}'`)}
export default magicLink({
  userOf: (address) => (address === 'alice@example.com' ? 'alice' : undefined),
  send: (_address, link) => console.log(link),
})
`
}

test('a link of the guide is redeemed at a server of grantry init', async () => {
  const directory = newDirectory()
  const { out } = await printed('init', directory)
  const [, secret = ''] = /client service, secret {2}(\S+)/u.exec(out) ?? []
  writeFileSync(join(directory, 'plugin.ts'), pluginModule())
  const file = join(directory, 'grantry.config.json')
  const configuration = readFileSync(file, 'utf8')
    .replace('"administration": true,', '"administration": true, "plugins": ["./plugin.ts"],')
    .replace('"grantTypes": ["client_credentials"],', '"grantTypes": ["urn:example:magic-link"],')
  writeFileSync(file, configuration)
  for (const [, line = ''] of readFileSync(join(root, guide), 'utf8').matchAll(/^npx grantry (users .+)$/gmu)) {
    expect(await printed(...line.split(' '), '--config', file)).toMatchObject({ code: 0, err: '' })
  }
  const server = await startServer({ loaded: await loadConfiguration(file, {}), port: 0, observe: () => {} })
  onTestFinished(() => server.close(0))
  const post = (path: string, form: Readonly<Record<string, string>>) =>
    fetch(`http://127.0.0.1:${server.running.port}/connect/${path}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`service:${secret}`)}` },
      body: new URLSearchParams(form),
    })
  const log = vi.spyOn(console, 'log').mockReturnValue()
  onTestFinished(() => log.mockRestore())
  await post('magiclink', { email: 'alice@example.com', scope: 'api1' })
  const link = new URL(String(log.mock.calls[0]?.[0])).searchParams.get('link') ?? ''
  const tokens = await post('token', { grant_type: 'urn:example:magic-link', link })
  expect(await tokens.json()).toMatchObject({ token_type: 'Bearer', scope: 'api1' })
})
