import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe } from 'vitest'
import { certificate, commonName } from '../mtls/certificates.ts'
import { describeWith } from './describe-with.ts'
import { pause } from './pause.ts'
import { leash } from './postgresql-process.ts'
import { privateAuthority, serverCertificate } from './postgresql-tls.ts'
import { reservedPort } from './reserved-port.ts'
import { suspend } from './suspend.ts'

const program = ['/usr/sbin/slapd', '/usr/local/libexec/slapd', '/usr/libexec/slapd'].find((path) => existsSync(path))

/** One sentence when OpenLDAP cannot be run here: what is missing and how to get it. */
const missing =
  program === undefined
    ? 'OpenLDAP is not installed, but the tests of users in an LDAP directory need it: apt-get install slapd'
    : undefined

/** Like `describe`, for tests that need an LDAP server. */
export const describeWithLdap = (name: string, define: () => void): void =>
  describeWith(missing, name, define, describe)

export const suffix = 'dc=example,dc=com'
/** The account that may do everything. */
export const administrator = { bindDn: `cn=admin,${suffix}`, bindPassword: 'the-ldap-password' }

/** A separate OpenLDAP for this test, on loopback. It ends with the process of the test at the latest. */
export interface LdapServer {
  /** `ldap://127.0.0.1:port` */
  readonly url: string
  /** `ldaps://127.0.0.1:port` */
  readonly secureUrl: string
  /** The authority of its certificate in PEM. */
  readonly ca: string
  /** Another authority. */
  readonly otherCa: string
  pause(): void
  resume(): void
  kill(): Promise<void>
  /** After `kill()`: on the same ports. */
  restart(): Promise<void>
}

/** Attributes of Active Directory and of 389 Directory Server that OpenLDAP does not have. */
const schema = `
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 2.16.840.1.113730.3.1.610 NAME 'nsAccountLock' EQUALITY caseIgnoreMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.4203.666.1.1 NAME 'otherAccount' SUP top AUXILIARY
  MAY ( userAccountControl $ objectGUID $ nsAccountLock ) )
`

const configurationOf = (directory: string): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
${schema}
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCACertificateFile ${directory}/ca.pem
TLSCertificateFile ${directory}/server.pem
TLSCertificateKeyFile ${directory}/server.key
database mdb
maxsize 16777216
dbnosync
suffix "${suffix}"
rootdn "${administrator.bindDn}"
rootpw ${administrator.bindPassword}
directory ${directory}/data
index objectClass,entryUUID,uid,mail eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact="cn=reader,${suffix}" read by * none
`

/** Whether a server listens on the port. */
const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

async function startProcess(directory: string, [port, securePort]: readonly [number, number]): Promise<ChildProcess> {
  const urls = `ldap://127.0.0.1:${port} ldaps://127.0.0.1:${securePort}`
  const child = spawn(program ?? '', ['-d', '0', '-h', urls, '-f', join(directory, 'slapd.conf')], { stdio: 'ignore' })
  const { pid } = child
  if (pid !== undefined) {
    const guard = leash(pid, directory)
    child.once('exit', () => guard.kill('SIGKILL'))
  }
  for (;;) {
    if (child.exitCode !== null) throw new Error(`slapd exited with ${child.exitCode}`)
    const isOpen = await accepts(port)
    if (isOpen) return child
    await pause(20)
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()))

/** Returns a function that starts servers with these entries in LDIF. They end after the last test of the file. */
export function ldapServers(): (entries: string) => Promise<LdapServer> {
  const stops: (() => Promise<void>)[] = []
  afterAll(() => Promise.all(stops.map((stop) => stop())))
  return async (entries) => {
    const directory = mkdtempSync(join(tmpdir(), 'grantry-ldap-'))
    mkdirSync(join(directory, 'data'))
    const authority = privateAuthority()
    const { pem, keyPem } = serverCertificate(authority)
    const files = { 'ca.pem': authority.pem, 'server.pem': pem, 'server.key': keyPem, 'entries.ldif': entries }
    for (const [name, content] of Object.entries({ ...files, 'slapd.conf': configurationOf(directory) })) {
      writeFileSync(join(directory, name), content, { mode: 0o600 })
    }
    // slapadd is another name of the same program.
    const loaded = spawnSync(
      program ?? '',
      ['-T', 'add', '-f', join(directory, 'slapd.conf'), '-l', join(directory, 'entries.ldif')],
      {
        encoding: 'utf8',
      },
    )
    if (loaded.status !== 0) throw new Error(`slapadd failed: ${loaded.error?.message ?? loaded.stderr}`)
    const ports = [await reservedPort(), await reservedPort()] as const
    let child = await startProcess(directory, ports)
    stops.push(async () => {
      child.kill('SIGKILL')
      await ended(child)
      rmSync(directory, { recursive: true, force: true })
    })
    return {
      url: `ldap://127.0.0.1:${ports[0]}`,
      secureUrl: `ldaps://127.0.0.1:${ports[1]}`,
      ca: authority.pem,
      otherCa: certificate({ subject: commonName('another') }).pem,
      pause: () => suspend(child.pid === undefined ? [] : [child.pid]),
      resume: () => void child.kill('SIGCONT'),
      async kill() {
        child.kill('SIGKILL')
        await ended(child)
      },
      async restart() {
        child = await startProcess(directory, ports)
      },
    }
  }
}
