import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { serverCertificate } from '../mtls/https.ts'
import { eventually } from '../support/eventually.ts'
import { runProgram } from '../support/program.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { root } from './single-file.ts'

interface ProxyOptions {
  /** The ports of the servers. */
  readonly upstreams: readonly number[]
  /** Replaces texts of the file. */
  readonly change?: (text: string) => string
}

/** The file of `deploy/` with other ports and certificates. */
const configurationFor = (
  port: number,
  plainPort: number,
  { upstreams, change = (text) => text }: ProxyOptions,
): string => `
daemon off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
${change(readFileSync(`${root}/deploy/nginx.conf`, 'utf8'))
  .replace(/server 127\.0\.0\.1:8484( .*);/u, (_, settings: string) =>
    upstreams.map((upstream) => `server 127.0.0.1:${upstream}${settings};`).join('\n'),
  )
  .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
  .replace('listen 80', `listen 127.0.0.1:${plainPort}`)
  .replace(/ssl_certificate \S+;/u, 'ssl_certificate server.pem;')
  .replace(/ssl_certificate_key \S+;/u, 'ssl_certificate_key server.key;')}
}
`

/** Runs nginx with `deploy/nginx.conf`. @param isReady sends a request to it, and resolves when it was answered */
export async function startNginx(options: ProxyOptions, isReady: (port: number) => Promise<unknown>) {
  const directory = mkdtempSync(join(tmpdir(), 'grantry-nginx-'))
  const port = await reservedPort()
  const plainPort = await reservedPort()
  const files = {
    'nginx.conf': configurationFor(port, plainPort, options),
    'server.pem': serverCertificate.pem,
    'server.key': serverCertificate.keyPem,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  const nginx = runProgram(['nginx', '-p', directory, '-c', 'nginx.conf', '-e', 'stderr'], { cwd: directory })
  let ended = false
  void nginx.ended.then(() => {
    ended = true
  })
  await eventually(async () => {
    if (!ended) await expect(isReady(port)).resolves.toBe(true)
  })
  if (ended) throw new Error(`nginx has ended: ${nginx.output().err}`)
  return {
    port,
    plainPort,
    log: () => nginx.output().err,
    async stop() {
      nginx.signal('SIGTERM')
      await nginx.ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
