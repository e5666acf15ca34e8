import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'vitest'
import { root, serverCertificate } from '../mtls/https.ts'
import { describeWith } from '../support/describe-with.ts'
import { eventually } from '../support/eventually.ts'
import { runProgram } from '../support/program.ts'

const missing =
  spawnSync('nginx', ['-v']).error === undefined ? undefined : 'nginx is not installed: apt-get install nginx-light'

/** Like `describe`, for tests that need nginx. */
export const describeWithNginx = (name: string, define: () => void): void =>
  describeWith(missing, name, define, describe)

/** A server that terminates TLS, as in docs/guides/mtls.md. */
const configuration = (port: number, upstream: number): string => `
daemon off;
pid nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate server.pem;
    ssl_certificate_key server.key;
    ssl_client_certificate clients-ca.pem;
    ssl_verify_client optional;
    location / {
      proxy_pass http://127.0.0.1:${upstream};
      proxy_set_header X-Client-Cert $ssl_client_escaped_cert;
      proxy_set_header X-Forwarded-For $remote_addr;
    }
  }
}
`

/** Starts nginx in this directory. Returns a function that ends it. */
export async function startNginx(directory: string, port: number, upstream: number): Promise<() => Promise<void>> {
  const prefix = join(directory, 'nginx')
  mkdirSync(prefix)
  const files = {
    'nginx.conf': configuration(port, upstream),
    'server.pem': serverCertificate.pem,
    'server.key': serverCertificate.keyPem,
    'clients-ca.pem': root.pem,
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(prefix, name), text)
  const program = runProgram(['nginx', '-p', prefix, '-c', 'nginx.conf', '-e', 'stderr'], { cwd: prefix })
  await Promise.race([
    eventually(() => fetch(`http://127.0.0.1:${port}/`)),
    program.ended.then(() => {
      throw new Error(`nginx has ended: ${program.output().err}`)
    }),
  ])
  return async () => {
    program.signal('SIGTERM')
    await program.ended
  }
}
