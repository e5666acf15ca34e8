// A project on Next.js, in a real `next dev` with the built packages: a user signs in over HTTP.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createBrowser } from '../../templates/app/browser.ts'
import { describeWith } from '../support/describe-with.ts'
import { runProgram } from '../support/program.ts'
import { create, linkPackages, root } from './created.ts'

const next = join(root, 'test/bundlers/node_modules/next/dist/bin/next')

function missing(): string | undefined {
  if (!existsSync(next)) return 'Install Next.js: npm ci --prefix test/bundlers'
  return existsSync(join(root, 'packages/next/dist')) ? undefined : 'packages/next is not built: npm run build'
}

/** Writes a project with what it needs. Turbopack reads no links that leave its root, so it is in the repository. */
async function setUp(answers: readonly string[]) {
  const directory = join(root, `test/bundlers/dist/created-${process.pid}-${answers.at(-1)}`)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  mkdirSync(directory, { recursive: true })
  expect(await create([directory, '--no-start', '--yes', '--where', 'next', ...answers])).toMatchObject({
    code: 0,
    err: '',
  })
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  linkPackages(directory, Object.keys({ ...dependencies, ...devDependencies }))
  // No later run reads a cache.
  const experimental = { turbopackFileSystemCacheForDev: false }
  const config = { turbopack: { root }, outputFileTracingRoot: root, experimental }
  writeFileSync(join(directory, 'next.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  return directory
}

async function start(directory: string): Promise<string> {
  const program = runProgram([process.execPath, next, 'dev', '--port', '0', '--hostname', '127.0.0.1'], {
    cwd: directory,
    environment: { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'development' },
  })
  onTestFinished(async () => {
    program.signal('SIGTERM')
    await program.ended
  })
  const address = () => /https?:\/\/[\d.]+:\d+/u.exec(program.output().out)?.[0]
  await expect.poll(address).toBeDefined()
  return address() ?? ''
}

describeWith(missing(), 'a project on Next.js', () => {
  test.each([
    ['--pages', 'ready'],
    ['--pages', 'mine'],
  ])('with %s %s signs a user in, and keeps its 404 page', async (...answers) => {
    const directory = await setUp(answers)
    const settings = readFileSync(join(directory, '.env'), 'utf8')
    const [, password = ''] = /^ALICE_PASSWORD=(.*)$/mu.exec(settings) ?? []
    const types = readFileSync(join(directory, 'tsconfig.json'), 'utf8')
    const address = await start(directory)
    const issuer = 'http://127.0.0.1:3000'
    // The issuer has another port than the server of this test.
    const browser = createBrowser(issuer, (request) =>
      fetch(new Request(request.url.replace(issuer, address), request), { redirect: 'manual' }),
    )
    const home = await browser.open('/')
    expect(home.html).toContain('href="/sign-in"')
    const page = await browser.submit(await browser.open('/sign-in'), { username: 'alice', password })
    expect(page.url.pathname).toBe('/callback')
    expect(page.html).toContain('Signed in as Alice')
    expect((await browser.open('/nothing')).html).toContain('This page could not be found')
    // Next.js writes what it misses there.
    expect(readFileSync(join(directory, 'tsconfig.json'), 'utf8')).toBe(types)
  })
})
