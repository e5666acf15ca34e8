// `grantry serve --watch` in a real process. The cases are those that others have reported: a ConfigMap, whose link moves to
// another directory (traefik 1188), a file that is replaced by an editor, and one that is half written.
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { basic, sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { type ServerProcess, serverProcesses } from '../observability/server-process.ts'
import { eventually } from '../support/eventually.ts'

const { newHome, start } = serverProcesses()

const configuration = (clientId: string): string =>
  JSON.stringify({
    issuer: 'https://id.example.com',
    storage: { driver: 'memory' },
    // The test tries until a client exists.
    abuseControl: { enabled: false },
    clients: [
      {
        clientId,
        secrets: [{ sha256: '$' + '{GRANTRY_TEST_HASH}' }],
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
      },
    ],
    scopes: [{ name: 'api1' }],
  })

const hash = (secret: string): string => `GRANTRY_TEST_HASH=${sha256Of(secret)}\n`

async function status({ address }: ServerProcess, clientId: string, secret = 'one'): Promise<number> {
  const response = await fetch(`${address}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic([clientId, secret]) },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' }),
  })
  return response.status
}

const becomes = (server: ServerProcess, clientId: string, secret?: string): Promise<void> =>
  eventually(async () => expect(await status(server, clientId, secret)).toBe(200))

const count = ({ output }: ServerProcess, type: string): number => output.err.split(`"event.name":"${type}"`).length - 1

test('reads a file again that was replaced, and grantry.env; a half-written one changes nothing', async () => {
  const home = newHome()
  const file = join(home, 'grantry.config.json')
  writeFileSync(file, configuration('first'))
  writeFileSync(join(home, 'grantry.env'), hash('one'))
  const server = await start({ home, args: ['--watch'] })
  writeFileSync(`${file}.new`, configuration('second'))
  renameSync(`${file}.new`, file)
  await becomes(server, 'second')
  writeFileSync(join(home, 'grantry.env'), hash('two'))
  await becomes(server, 'second', 'two')
  writeFileSync(file, configuration('third').slice(0, 100))
  await eventually(() => expect(count(server, 'configuration_refused')).toBe(1))
  expect(await status(server, 'second', 'two')).toBe(200)
  writeFileSync(file, configuration('third'))
  await becomes(server, 'third', 'two')
  server.process.kill('SIGTERM')
  expect(await server.ended).toBe(0)
  // One attempt for each content, also for the one that was refused.
  expect([count(server, 'configuration_reloaded'), count(server, 'configuration_refused')]).toEqual([3, 1])
})

test('follows the links of a ConfigMap to a new directory', async () => {
  const home = newHome()
  const version = (name: string, clientId: string): void => {
    mkdirSync(join(home, name))
    writeFileSync(join(home, name, 'grantry.config.json'), configuration(clientId))
  }
  version('..1', 'first')
  symlinkSync('..1', join(home, '..data'))
  symlinkSync(join('..data', 'grantry.config.json'), join(home, 'grantry.config.json'))
  writeFileSync(join(home, 'grantry.env'), hash('one'))
  const server = await start({ home, args: ['--watch'] })
  expect(await status(server, 'first')).toBe(200)
  version('..2', 'second')
  symlinkSync('..2', join(home, '..new'))
  renameSync(join(home, '..new'), join(home, '..data'))
  await becomes(server, 'second')
  writeFileSync(join(home, '..2', 'grantry.config.json'), configuration('third'))
  await becomes(server, 'third')
})
