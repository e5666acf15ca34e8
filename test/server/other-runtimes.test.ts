import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { basic, sha256Of } from '@grantry/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { demoCommands } from '../../packages/server/src/demo/commands.ts'
import { isRequest, parseLog } from '../observability/log-lines.ts'
import { parsePrometheusText } from '../observability/prometheus-text.ts'
import { diskTemporaryDirectory } from '../support/directory.ts'
import { eventually } from '../support/eventually.ts'
import { listeningAddress } from '../support/listening.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { type RunningCommand, root, startCommand } from './running-command.ts'

// `npm run start:bun` and `npm run start:deno`: the server, its command line and its configuration work as on Node.js.

const run = promisify(execFile)

// Not one that `grantry check` guesses.
const secret = 'k7Zt2mQw9xLr4vPa'

const configuration = (issuer: string) => ({
  issuer,
  storage: { driver: 'memory' },
  clients: [
    {
      clientId: 'web',
      secrets: [{ sha256: sha256Of(secret) }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
    },
  ],
  scopes: [{ name: 'api1' }],
})

const directories: string[] = []
afterAll(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true }))))

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(diskTemporaryDirectory(), 'grantry-'))
  directories.push(directory)
  return directory
}

const addressOf = (server: RunningCommand): string =>
  `http://${listeningAddress(server.output().err) ?? 'nowhere.invalid'}`

async function token(base: string, form: Record<string, string>, by: readonly [string, string]): Promise<unknown> {
  const response = await fetch(`${base}/connect/token`, {
    method: 'POST',
    headers: { authorization: basic(by) },
    body: new URLSearchParams({ scope: 'api1', ...form }),
  })
  return { status: response.status, body: await response.json() }
}

const issued = (access_token: unknown) => ({ status: 200, body: expect.objectContaining({ access_token }) })

for (const name of ['bun', 'deno']) {
  describeWithRuntime(`npm run start:${name}`, runtimeExecutable(`.bin/${name}`), () => {
    const start = (args: readonly string[], directory: string): Promise<RunningCommand> =>
      startCommand(args, directory, { script: ['start-on.js', name] })
    let demo: RunningCommand
    let base: string

    beforeAll(async () => {
      demo = await start(['--port', '0'], await newDirectory())
      base = addressOf(demo)
    })
    afterAll(() => demo?.stop())

    test('logs its settings, and that it is the demo', () => {
      expect(demo.output().out).toBe('')
      expect(parseLog(demo.output().err)).toMatchObject(
        expect.arrayContaining([
          expect.objectContaining({
            type: 'server_listening',
            issuer: base,
            storage: expect.stringMatching(/^filesystem: /u),
          }),
          expect.objectContaining({ type: 'startup_warning', level: 'warn', reason: 'demo' }),
        ]),
      )
    })

    test('issues tokens with the client credentials and password grants', async () => {
      const demoClient = ['demo', 'demo-secret'] as const
      expect(await token(base, { grant_type: 'client_credentials' }, demoClient)).toEqual(
        issued(expect.stringMatching(/^[\w-]{43}$/u)),
      )
      const alice = { grant_type: 'password', username: 'alice', password: 'alice-password' }
      expect(await token(base, alice, ['demo-jwt', 'demo-secret'])).toEqual(issued(expect.stringMatching(/^eyJ/u)))
      expect(await token(base, { ...alice, password: 'wrong' }, demoClient)).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
    })

    test('runs the commands that the demo prints', async () => {
      const { stdout } = await run('sh', ['-c', demoCommands(base)])
      const responses = stdout.split('\n').filter((line) => line.startsWith('{'))
      expect(responses.length).toBeGreaterThan(6)
      expect(responses.filter((line) => line.includes('"error"'))).toEqual([
        expect.stringContaining('insufficient_scope'),
      ])
    })

    test('is alive and ready', async () => {
      expect((await fetch(`${base}/health/live`)).status).toBe(200)
      expect((await fetch(`${base}/health/ready`)).status).toBe(200)
    })

    test('writes a JSON log and serves metrics', async () => {
      const page = parsePrometheusText(await (await fetch(`${base}/metrics`)).text())
      expect(page.get('grantry_requests_total')?.samples).not.toEqual([])
      const lines = parseLog(demo.output().err)
      expect(lines.filter(isRequest).map(({ clientAddress }) => clientAddress)).toContain('127.0.0.1')
    })

    test.each([
      ['grantry.mjs', ''],
      ['grantry.ts', ' satisfies object'],
    ])('serves the configuration %s, and exits with 0 on a signal', async (file, types) => {
      const directory = await newDirectory()
      await writeFile(
        join(directory, file),
        `const configuration = ${JSON.stringify(configuration('https://id.example.com'))}${types}\nexport default configuration`,
      )
      const server = await start(['serve', '--config', file, '--port', '0'], directory)
      expect(server.output().err).toContain('"grantry.issuer":"https://id.example.com"')
      expect(await token(addressOf(server), { grant_type: 'client_credentials' }, ['web', secret])).toEqual(
        issued(expect.stringMatching(/^eyJ/u)),
      )
      expect(await server.stop()).toBe(0)
    })

    test('reads its configuration again: on SIGHUP, by grantry reload, and when a file changes', async () => {
      const directory = await newDirectory()
      const file = join(directory, 'grantry.config.json')
      const write = (clientId: string) => {
        const { clients, ...more } = configuration('https://id.example.com')
        return writeFile(file, JSON.stringify({ ...more, clients: clients.map((each) => ({ ...each, clientId })) }))
      }
      await write('first')
      const pidFile = join(directory, 'pid')
      const server = await start(['serve', '--port', '0', '--config', file, '--pid-file', pidFile], directory)
      const reloads = () => server.output().err.split('"event.name":"configuration_reloaded"').length - 1
      const works = (clientId: string) =>
        token(addressOf(server), { grant_type: 'client_credentials' }, [clientId, secret])
      await write('second')
      server.process.kill('SIGHUP')
      await eventually(() => expect(reloads()).toBe(1))
      expect(await works('second')).toMatchObject({ status: 200 })
      await write('third')
      const command = [`${root}/scripts/start-on.js`, name, 'reload', '--pid-file', pidFile]
      expect((await run(process.execPath, command)).stdout).toBe(`the configuration was read again: ${file}\n`)
      expect(await works('third')).toMatchObject({ status: 200 })
      expect(await server.stop()).toBe(0)
      const watching = await start(['serve', '--port', '0', '--config', file, '--watch'], directory)
      await write('fourth')
      await eventually(() => expect(watching.output().err).toContain('configuration_reloaded'))
      expect(await watching.stop()).toBe(0)
    })

    test('reports a busy port in one line', async () => {
      const { port } = new URL(base)
      await expect(start(['--port', port, '--log-format', 'text'], await newDirectory())).rejects.toThrow(
        `ended with 1 before it listened:\ngrantry: port ${port} on 127.0.0.1 is in use; stop the other process, or choose another port with --port\n`,
      )
    })

    test('runs the other commands, with a configuration in JSON', async () => {
      const file = join(await newDirectory(), 'grantry.json')
      await writeFile(file, JSON.stringify(configuration('http://127.0.0.1:8484')))
      const command = [`${root}/scripts/start-on.js`, name, 'check', '--json', '--config', file]
      const { stdout } = await run(process.execPath, command)
      expect(JSON.parse(stdout).findings).toContainEqual(expect.objectContaining({ id: 'issuer-loopback' }))
    })
  })
}

describeWithRuntime('a configuration that Deno may not read', runtimeExecutable('.bin/deno'), () => {
  test('is reported with the permission that it needs', async () => {
    const command = [`${root}/scripts/start-on.js`, 'deno', 'check', '--config', '/dev/grantry.json']
    await expect(run(process.execPath, command)).rejects.toMatchObject({
      stdout: expect.stringMatching(/cannot read \/dev\/grantry\.json \(.*--allow-all.*\)/u),
    })
  })
})
