// The alerts of deploy/prometheus-rules.yml: Prometheus itself evaluates them on the series that an outage leaves.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OAuthError } from '@grantry/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { clientOf, loadedOf, redirectUri, run } from '../reload/running.ts'
import { describeWith } from '../support/describe-with.ts'
import { createHttpBrowser } from '../support/sign-in.ts'
import { root } from './single-file.ts'

const file = `${root}/deploy/prometheus-rules.yml`
const missing =
  spawnSync('promtool', ['--version']).error === undefined
    ? undefined
    : 'promtool is not installed: apt-get install prometheus'

interface Rule {
  readonly alert: string
  readonly expr: string
}
const rules: readonly Rule[] = parse(readFileSync(file, 'utf8')).groups[0].rules

/** Evaluates the rules. @param series by their names, as promtool writes values. Returns what is wrong, or an empty text */
function evaluated(series: Readonly<Record<string, string>>, alert: string, fires: boolean): string {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-alerts-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  // Labels and annotations are not compared: the alert has to be there, or not.
  const content = {
    rule_files: [file],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0 or vector(0)`,
            eval_time: '20m',
            exp_samples: [{ value: fires ? 1 : 0, labels: '{}' }],
          },
        ],
      },
    ],
  }
  writeFileSync(join(directory, 'test.yml'), JSON.stringify(content))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(directory, 'test.yml')], {
    encoding: 'utf8',
  })
  return status === 0 ? '' : stdout + stderr
}

const up = (instance: string): string => `up{job="grantry",instance="${instance}"}`
const requests = (labels: string): string => `grantry_requests_total{${labels}}`
const ok = requests('endpoint="token",status="200",reason=""')
const event = (type: string): string => `grantry_events_total{type="${type}"}`
/** A counter whose first event is at the end. */
const first = '_x18 1 1 1'

describeWith(
  missing,
  'deploy/prometheus-rules.yml',
  () => {
    test.each<[string, Readonly<Record<string, string>>, string, boolean]>([
      ['all servers are down', { [up('a')]: '0x20', [up('b')]: '0x20' }, 'GrantryDown', true],
      ['no server is known', {}, 'GrantryDown', true],
      ['one of two servers is up', { [up('a')]: '0x20', [up('b')]: '1x20' }, 'GrantryDown', false],
      ['one of two servers is down', { [up('a')]: '0x20', [up('b')]: '1x20' }, 'GrantryServerDown', true],
      ['all servers are up', { [up('a')]: '1x20' }, 'GrantryServerDown', false],
      [
        'the directory of the users is down, on a server that mostly refreshes tokens',
        { [ok]: '0+6000x20', [requests('endpoint="authorize",status="503",reason="users_unavailable"')]: '0+6x20' },
        'GrantryUsersUnavailable',
        true,
      ],
      [
        'one endpoint fails, which has few of all requests',
        { [ok]: '0+6000x20', [requests('endpoint="authorize",status="503",reason="x"')]: '0+6x20' },
        'GrantryEndpointFails',
        true,
      ],
      [
        'a tenth fails',
        { [ok]: '0+90x20', [requests('endpoint="token",status="503",reason="x"')]: '0+10x20' },
        'GrantryFails',
        true,
      ],
      ['nothing fails', { [ok]: '0+90x20' }, 'GrantryFails', false],
      ['the first mail is given up', { [event('mail_failed')]: first }, 'GrantryMailFails', true],
      ['a mail was given up long ago', { [event('mail_failed')]: '1x20' }, 'GrantryMailFails', false],
      ['a provider is down', { [event('upstream_sign_in_failed')]: '0+2x20' }, 'GrantryUpstreamFails', true],
      [
        'few sign-ins at a provider are cancelled',
        { [event('upstream_sign_in_failed')]: '0+2x20', [event('upstream_sign_in_succeeded')]: '0+9x20' },
        'GrantryUpstreamFails',
        false,
      ],
      ['a rotation of the keys fails', { [event('unhandled_failure')]: first }, 'GrantryUnhandledFailure', true],
      [
        'a configuration is refused',
        { 'grantry_configuration_reloads_total{outcome="refused"}': first },
        'GrantryConfigurationRefused',
        true,
      ],
      ['the first replay', { 'grantry_replays_total{credential="code"}': first }, 'GrantryReplay', true],
      ['lines are lost', { grantry_log_lines_dropped_total: '0x15 1x5' }, 'GrantryLogLost', true],
    ])('%s', (_, series, alert, fires) => {
      expect(evaluated(series, alert, fires)).toBe('')
    })
  },
  describe,
)

test('the alerts name metrics that the guide describes', () => {
  const guide = readFileSync(`${root}/docs/guides/observability.md`, 'utf8')
  const names = rules.flatMap(({ expr }) => expr.match(/grantry_[a-z_]+/gu) ?? [])
  expect(names.length).toBeGreaterThan(10)
  for (const name of names) expect(guide).toContain(`\`${name.replace(/_bucket$/u, '')}\``)
})

test('a sign-in while the directory is down is counted under the reason of the alert', async () => {
  const authenticate = () => {
    throw new OAuthError('temporarily_unavailable', '', { reason: 'users_unavailable', cause: new Error('down') })
  }
  const clients = [clientOf('web', { requireConsent: false, requirePkce: false })]
  const server = await run(loadedOf({ plugins: [{ name: 'sign-in' }], users: { authenticate }, clients }))
  const browser = createHttpBrowser(async (url, init) => {
    const target = new URL(url, 'https://id.example.com')
    const request = new Request(target, init)
    request.headers.set('origin', target.origin)
    const response = await server.running.handle(request, { clientAddress: '192.0.2.1' })
    return { status: response.status, headers: response.headers, body: await response.text() }
  })
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'web', redirect_uri: redirectUri, scope: 'openid' },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  })
  const page = await browser.visit(`https://id.example.com/connect/authorize?${query}`, redirectUri)
  const failed = await browser.submit(page.html, { username: 'alice', password: 'alice-password' }, redirectUri)
  expect(failed.status).toBe(503)
  expect(server.events).toContainEqual(
    expect.objectContaining({ type: 'endpoint_failed', status: 503, reason: 'users_unavailable' }),
  )
  await server.running.close()
})
