import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { parse } from 'jsonc-parser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { providerOptions } from '../../packages/server/src/provider-options/provider-options.ts'
import { packageFolders } from '../../scripts/package-folders.js'
import { type RunningCommand, startCommand } from '../server/running-command.ts'
import { listeningAddress } from '../support/listening.ts'
import { startServer } from '../support/patient-server.ts'
import { codeBlocks, root, withReservedPort } from './code-blocks.ts'

const run = promisify(execFile)
const guides = readdirSync(`${root}/docs/guides`).map((name) => `docs/guides/${name}`)
const packages = packageFolders.map((folder) => `${folder}/README.md`)
const blocks = ['README.md', ...packages, ...guides].flatMap(codeBlocks)

// Inside the repository, so that imports of packages work. Ignored by git.
mkdirSync(`${root}/test/docs/.generated`, { recursive: true })
const directory = mkdtempSync(`${root}/test/docs/.generated/blocks-`)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const typescript = blocks
  .filter(({ language }) => language === 'ts')
  .map((block, index) => ({ ...block, file: join(directory, `block-${index}.ts`) }))

describe('TypeScript in the documents', () => {
  beforeAll(() => {
    // Makes a block without imports a module.
    for (const { file, code } of typescript) writeFileSync(file, `${code}\nexport {}\n`)
  })

  test('compiles', async () => {
    expect(typescript.length).toBeGreaterThan(2)
    const project = {
      extends: `${root}/tsconfig.base.json`,
      compilerOptions: { noEmit: true, declaration: false, declarationMap: false, types: ['node'] },
      include: ['*.ts'],
    }
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(project))
    const { stdout } = await run(`${root}/node_modules/.bin/tsc`, ['-p', directory]).catch((error) => error)
    expect(stdout).toBe('')
  })

  // A server of Node.js closes a connection that was idle for 5 seconds, which can pass between two requests on a busy
  // machine.
  const preamble = `export const printed: string[] = []
const console = { log: (value: unknown) => void printed.push(String(value)) }
function fetch(...given: ConstructorParameters<typeof Request>) {
  const request = new Request(...given)
  request.headers.set('connection', 'close')
  return globalThis.fetch(request)
}`

  // Side by side, because some wait for an expiry. Each has its own console.
  describe.concurrent('that is marked as ts run', () => {
    test.each(typescript.filter(({ info }) => info === 'run'))(
      '$title prints the output in its comments',
      async ({ file, code: shown }) => {
        const code = await withReservedPort(shown)
        const output = [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gmu)].map(([, text]) => text)
        const logged = file.replace(/ts$/u, 'logged.ts')
        writeFileSync(logged, `${preamble}\n${code}`)
        const { printed } = await import(pathToFileURL(logged).href)
        expect(output.length).toBeGreaterThan(0)
        expect(printed).toEqual(output)
      },
    )
  })

  test('the custom grant in the README is short', () => {
    const shown = codeBlocks('README.md').find(({ code }) => code.includes('defineGrant({'))
    expect(shown?.code.split('\n').length).toBeLessThan(30)
  })
})

describe('configurations in the documents', () => {
  const configurations = blocks.filter(({ info }) => info === 'config')

  test('exist', () => expect(configurations.length).toBeGreaterThan(1))

  test.each(configurations)('$title starts a server', async ({ code, title }) => {
    const file = join(directory, `${title.replaceAll(/\W/gu, '-')}.json`)
    writeFileSync(file, code)
    const loaded = await loadConfiguration(file, {})
    const server = await startServer({ loaded, port: 0, observe: () => {} })
    const { issuer, clients } = parse(code)
    expect(server.provider.issuer).toBe(issuer)
    await server.close(0)
    const options = await providerOptions(loaded, memoryDriver(), () => {})
    expect(options.clients).toHaveLength(clients.length)
  })
})

describe('commands in the documents', () => {
  let server: RunningCommand
  beforeAll(async () => {
    server = await startCommand(['--port', '0'], mkdtempSync(join(tmpdir(), 'grantry-')))
  })
  afterAll(() => server.stop())

  const commands = blocks.filter(({ info }) => info === 'demo')
  test('exist', () => expect(commands.length).toBeGreaterThan(1))

  test.each(commands)('$title has the output of the block below it', async ({ code, title }) => {
    const base = `http://${listeningAddress(server.output().err)}`
    const { stdout } = await run('sh', ['-c', code.replaceAll('http://127.0.0.1:8484', base)])
    const promised = blocks[blocks.findIndex((block) => block.title === title) + 1]
    const expected = JSON.parse(promised?.code ?? '{}')
    const response = JSON.parse(stdout)
    for (const [name, value] of Object.entries(expected)) {
      // Values that differ between runs: only their type is compared.
      if (name === 'access_token' || name === 'exp') expect(response[name]).toBeTypeOf(typeof value)
      else expect(response[name]).toEqual(value)
    }
  })
})

describe('the README', () => {
  const text = readFileSync(`${root}/README.md`, 'utf8')

  test('has exactly the two set-up commands', () => {
    const setUp = codeBlocks('README.md').find(({ language }) => language === 'sh')
    const commands = setUp?.code
      .trim()
      .split('\n')
      .map((line) => line.replace(/\s*#.*$/u, ''))
    expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test'])
    expect(readFileSync(`${root}/.ci/run`, 'utf8')).toContain('\nnpm ci && npm test\n')
  })

  test('shows a picture of the console of at most 200 KB', () => {
    expect(text).toContain('](docs/console.png)')
    expect(statSync(`${root}/docs/console.png`).size).toBeLessThan(200_000)
  })

  test('names every endpoint, and every link leads to a file', async () => {
    const { endpointNames, defaultPaths } = await import('@grantry/core')
    for (const name of endpointNames) expect(text).toContain(defaultPaths[name])
    for (const [, target = ''] of text.matchAll(/\]\(([^)]+)\)/gu)) {
      const file = target.replace(/#.*$/u, '')
      if (!target.startsWith('http')) expect([target, existsSync(`${root}/${file}`)]).toEqual([target, true])
    }
  })

  test('the list of events names every type once', () => {
    const files = ['event.ts', 'user-fact.ts'].map((name) => `${root}/packages/core/src/events/${name}`)
    const types = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const list = readFileSync(`${root}/docs/events.md`, 'utf8')
    const names = [...types.matchAll(/readonly type:((?: \|? ?'\w+')+)/gu)].flatMap(([, union = '']) =>
      union.match(/\w+/gu),
    )
    expect(names.length).toBeGreaterThan(20)
    for (const name of names) expect(list.split(`| \`${name}\` |`)).toHaveLength(2)
  })

  test('the configuration guide names every endpoint and every client setting', async () => {
    const { clientSchema, endpointNames } = await import('@grantry/core')
    const guide = readFileSync(`${root}/docs/guides/configuration.md`, 'utf8')
    const { refreshToken, ...entries } = clientSchema.entries
    const names = [...endpointNames, ...Object.keys(entries), ...Object.keys(refreshToken.wrapped.entries)]
    expect(
      names.filter((name) => !new RegExp(`[\`".]${name}[\`":]`, 'u').test(guide)),
      'missing in docs/guides/configuration.md',
    ).toEqual([])
  })
})
