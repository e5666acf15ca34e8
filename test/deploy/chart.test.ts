// The Helm chart and the base for Kustomize, without a cluster. CONTRIBUTING.md says with which programs they were rendered.
import { readFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { defaultDrain } from '../../packages/adapters/src/http-bridge/portable.ts'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { chartValuesSchema } from '../../scripts/release/chart.ts'
import { root } from './single-file.ts'

const textOf = (file: string): Promise<string> => readFile(`${root}/deploy/${file}`, 'utf8')
const values = parse(await textOf('helm/grantry/values.yaml'))
const base = parseAllDocuments(await textOf('kustomize/base/grantry.yaml')).map((document) => document.toJS())
const { spec: pod } = base.find(({ kind }) => kind === 'Deployment').spec.template
const [container] = pod.containers
const deployment = await textOf('helm/grantry/templates/deployment.yaml')

describe('the values of the chart', () => {
  const validate = new Ajv({ strict: true, strictTypes: false, strictRequired: false }).compile(chartValuesSchema())
  const isAccepted = (more: object): boolean => validate({ ...values, ...more })
  const withConfiguration = (more: object): boolean =>
    isAccepted({ configuration: { ...values.configuration, ...more } })

  test('are valid by default, and with what the guide sets', () => {
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true)
    expect(withConfiguration({ storage: { driver: 'redis', url: 'redis://redis:6379' } })).toBe(true)
    for (const url of [
      `\${DATABASE_URL}`,
      `postgresql://g:\${PASSWORD}@db:5432/g?sslmode=require`,
      'postgresql://db/g',
    ])
      expect(withConfiguration({ storage: { driver: 'postgresql', url } }), url).toBe(true)
    expect(withConfiguration({ metrics: false, plugins: [{ name: 'sign-in' }] })).toBe(true)
    expect(isAccepted({ image: { repository: 'a/b', pullSecrets: [{ name: 'registry' }] } })).toBe(true)
  })

  test.each([
    ['a member that the server does not know', { isuer: 'https://id.example.com' }],
    ['a client with such a member', { clients: [{ clientId: 'web', redirectUrl: 'https://web.example.com' }] }],
    ['records in the memory of a pod', { storage: { driver: 'memory' } }],
    ['files of a pod', { storage: { driver: 'filesystem', directory: '/tmp' } }],
    ['a secret as it is', { keys: { encryptionSecret: 'a-secret-of-thirty-two-characters' } }],
    ['a password in an address', { storage: { driver: 'postgresql', url: 'postgresql://grantry:secret@db/grantry' } }],
    [
      'a password beside a variable',
      { storage: { driver: 'postgresql', url: `postgresql://grantry:secret@\${HOST}/g` } },
    ],
    ['a password without a name', { storage: { driver: 'redis', url: `redis://:secret@redis/\${DB}` } }],
    ['a password in a query', { storage: { driver: 'postgresql', url: 'postgresql://db/g?user=g&password=secret' } }],
    ['a password of Redis', { storage: { driver: 'redis', url: 'redis://redis:6379', password: 'secret' } }],
    ['a delay with which the template cannot count', { shutdownDelay: '$'.concat('{DELAY}') }],
    ['metrics that only the pod itself could read', { metrics: true }],
  ])('refuse %s', (_what, more) => {
    expect(withConfiguration(more)).toBe(false)
  })

  test.each([
    ['another value', { replica: 3 }],
    ['a tag as a digest', { image: { repository: 'grantry', digest: '0.1.0' } }],
    ['a secret that is not a reference', { secrets: { GRANTRY_KEY_SECRET: 'a-secret' } }],
    ['no pod', { replicas: 0 }],
  ])('refuse %s', (_what, more) => {
    expect(isAccepted(more)).toBe(false)
  })

  test('have secrets for the variables of the configuration, and each variable has one', () => {
    const variables = [...JSON.stringify(values.configuration).matchAll(/\$\{(\w+)\}/gu)].map(([, name]) => name)
    expect(Object.keys(values.secrets).sort()).toEqual(variables.sort())
  })
})

test('the configuration of the base is the default one of the chart, and the server accepts it', async () => {
  const { configuration } = await loadConfiguration(`${root}/deploy/kustomize/base/grantry.config.json`, {
    DATABASE_URL: 'postgresql://grantry@db/grantry',
    GRANTRY_KEY_SECRET: 'instead of the file, thirty-two characters or more',
  })
  expect(configuration).toMatchObject({ trustedProxies: 1, shutdownDelay: 10, metrics: { port: 9464 } })
  const withoutComments = (await textOf('kustomize/base/grantry.config.json')).replaceAll(/^ *\/\/.*$/gmu, '')
  expect(JSON.parse(withoutComments)).toEqual(values.configuration)
})

test('a pod that ends may take as long as the server does, and its port stays open until nothing is sent to it', () => {
  const { shutdownDelay } = values.configuration
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(shutdownDelay + defaultDrain)
  expect(deployment).toContain('terminationGracePeriodSeconds: {{ include "grantry.gracePeriod" . }}')
  const { periodSeconds, timeoutSeconds } = container.readinessProbe
  expect(shutdownDelay).toBeGreaterThan(periodSeconds + timeoutSeconds)
})

test('a pod has no rights, writes nothing, and gets secrets as files', () => {
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(pod.automountServiceAccountToken).toBe(false)
  expect(container.volumeMounts.every(({ readOnly }: { readonly readOnly?: boolean }) => readOnly)).toBe(true)
  for (const { name, value } of container.env) {
    expect(name).toBe(`${value.split('/').at(-1)}_FILE`)
    expect(Object.keys(values.secrets)).toContain(value.split('/').at(-1))
  }
})

test('only readiness depends on the storage', () => {
  expect(container.livenessProbe.httpGet.path).toBe('/health/live')
  expect(container.startupProbe.httpGet.path).toBe('/health/live')
  expect(container.readinessProbe.httpGet.path).toBe('/health/ready')
})

test('the chart has the version of the server', async () => {
  const { version } = JSON.parse(await readFile(`${root}/packages/server/package.json`, 'utf8'))
  expect(parse(await textOf('helm/grantry/Chart.yaml'))).toMatchObject({ version, appVersion: version })
  expect(parse(await textOf('kustomize/base/kustomization.yaml')).images).toEqual([
    { name: 'grantry', newTag: version },
  ])
})
