// A project for Workers in workerd, with D1: a user signs in over HTTP, in the Worker that the project deploys.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import type { BuildOptions } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { createBrowser } from '../../templates/app/browser.ts'
import { startProgram } from '../contract/program.ts'
import { bundle } from '../support/bundle.ts'
import { describeWithRuntime, runtimeExecutable } from '../support/runtime-describe.ts'
import { create, emptyDirectory, linkPackages } from './created.ts'

const workerd = runtimeExecutable('.bin/workerd')

const configurationOf = (date: string, settings: Readonly<Record<string, string>>): string => `\
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "worker", worker = .worker), (name = "d1", worker = .d1), (name = "disk", disk = (path = "DISK", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "worker")]
);
const worker :Workerd.Worker = (
  modules = [(name = "program.mjs", esModule = embed "program.mjs")],
  compatibilityDate = "${date}",
  bindings = [
    (name = "DB", wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "d1")])),
${Object.entries(settings)
  .map(([name, value]) => `    (name = "${name}", text = "${value}"),\n`)
  .join('')}\
  ],
);
const d1 :Workerd.Worker = (
  modules = [(name = "d1-server.mjs", esModule = embed "d1-server.mjs")],
  compatibilityDate = "${date}",
  bindings = [(name = "DATABASE", durableObjectNamespace = "DatabaseObject")],
  durableObjectNamespaces = [(className = "DatabaseObject", uniqueKey = "database", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
);
`

const forWorkers: BuildOptions = {
  platform: 'neutral',
  target: 'es2022',
  conditions: ['@grantry/source', 'workerd', 'worker', 'import'],
  external: ['node:*'],
  banner: {},
}

/** Writes a project, and starts its Worker with the settings of `.dev.vars` and the date of `wrangler.jsonc`. */
async function start(answers: readonly string[]) {
  const project = emptyDirectory()
  const commandLine = [project, '--no-start', '--yes', '--where', 'workers', ...answers]
  expect(await create(commandLine)).toMatchObject({ code: 0, err: '' })
  const read = (file: string): string => readFileSync(join(project, file), 'utf8')
  linkPackages(project, Object.keys(JSON.parse(read('package.json')).dependencies))
  const settings = parseEnv(read('.dev.vars')) as Readonly<Record<string, string>>
  const [, date = ''] = /"compatibility_date": "([\d-]+)"/u.exec(read('wrangler.jsonc')) ?? []
  const directory = dirname(await bundle(pathToFileURL(join(project, 'worker.ts')), forWorkers))
  const d1 = new URL('../sqlite/workers/d1-server.ts', import.meta.url)
  await bundle(d1, { ...forWorkers, outfile: join(directory, 'd1-server.mjs') })
  const file = join(directory, 'config.capnp')
  const disk = join(directory, 'disk')
  mkdirSync(disk)
  writeFileSync(file, configurationOf(date, settings).replace('DISK', disk))
  const program = await startProgram(workerd, ['serve', file, '--control-fd=3', '--experimental'])
  onTestFinished(async () => void (await program.stop()))
  return { program, settings }
}

describeWithRuntime('a project for Workers', workerd, () => {
  test.each([
    ['--pages', 'ready'],
    ['--pages', 'mine'],
  ])('with %s %s signs a user in', async (...answers) => {
    const { program, settings } = await start(answers)
    const issuer = settings.ISSUER ?? ''
    // The issuer has another port than workerd.
    const browser = createBrowser(issuer, (request) =>
      fetch(new Request(request.url.replace(issuer, `http://127.0.0.1:${program.port}`), request), {
        redirect: 'manual',
      }),
    )
    expect((await browser.open('/')).html).toContain('href="/sign-in"')
    const form = await browser.open('/sign-in')
    const page = await browser.submit(form, { username: 'alice', password: settings.ALICE_PASSWORD ?? '' })
    expect(page.url.pathname).toBe('/callback')
    expect(page.html).toContain('Signed in as Alice')
    expect((await browser.open('/nothing')).status).toBe(404)
  })
})
