import { readFileSync, type Stats, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { errorMessage, fileErrorReason } from '../error-message.ts'

const file = v.string('must be the path of a PEM file')

/** The files with which the server terminates TLS itself. */
export const tlsSchema = configurationObject({
  /** The path of the certificates, the one of the server first (PEM). */
  certificate: file,
  /** The path of the private key (PEM). */
  key: file,
  /** Whether clients are asked for certificates. */
  requestCertificates: v.optional(v.boolean('must be true or false'), false),
  /** The path of the authorities of client certificates (PEM). */
  clientAuthorities: v.optional(file),
})

type TlsFiles = v.InferOutput<typeof tlsSchema>

/** The same members, with the content of the files. */
export type TlsContent = TlsFiles

/** Reads the certificate and the key of the server, and reads them again when they change. */
export interface TlsSource {
  read(): TlsContent
  /** Calls `update` with the new content, or `fail` if it is not valid. Returns a function that ends it. */
  watch(update: (content: TlsContent) => void, fail: (message: string) => void): () => void
}

/** Milliseconds. The files are polled, because a mounted secret changes by a link that `watch()` does not follow. */
const usualInterval = 5000

/** The version of a file that cannot be read. */
const absent = 'absent'

/** Differs after each change of a file. */
const versionOf = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`

function versionNow(path: string): string {
  try {
    return versionOf(statSync(path))
  } catch {
    // The next read reports the reason.
    return absent
  }
}

function readPem(name: string, path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    throw new TypeError(`tls.${name} ${path}: it cannot be read (${fileErrorReason(cause)})`)
  }
  // Node.js ignores an empty text, such as that of a file which is being written.
  if (text.includes('-----BEGIN ')) return text
  throw new TypeError(`tls.${name} ${path}: it is not PEM`)
}

/** The part of an adapter that is used here. */
interface TlsAdapter {
  /** @throws an error if a server could not use the files */
  checkTls(content: TlsContent): void
}

/** @param directory the directory of relative paths */
export function tlsSource(
  files: TlsFiles,
  directory: string,
  { checkTls }: TlsAdapter,
  interval: number = usualInterval,
): TlsSource {
  const { certificate, key, clientAuthorities, requestCertificates } = files
  const pathOf = (path: string): string => resolve(directory, path)
  const paths = [certificate, key, ...(clientAuthorities === undefined ? [] : [clientAuthorities])].map(pathOf)
  /** The versions of the files that were read last. A change between `read()` and `watch()` must be noticed, too. */
  let versions: string | undefined

  /** @throws TypeError with one sentence when a file is missing, or the files do not belong together. */
  function read(): TlsContent {
    versions = paths.map(versionNow).join()
    const content = {
      certificate: readPem('certificate', pathOf(certificate)),
      key: readPem('key', pathOf(key)),
      requestCertificates,
      clientAuthorities:
        clientAuthorities === undefined ? undefined : readPem('clientAuthorities', pathOf(clientAuthorities)),
    }
    try {
      checkTls(content)
    } catch (cause) {
      throw new TypeError(
        `tls: the files are not valid PEM, or the key is not that of the certificate (${errorMessage(cause)})`,
      )
    }
    return content
  }

  return {
    read,
    watch(update, fail) {
      const renew = (): void => {
        try {
          update(read())
        } catch (cause) {
          // Between two writes, the files do not belong together. The next change comes with the second one.
          fail(errorMessage(cause))
        }
      }
      versions ??= paths.map(versionNow).join()
      let isChecking = false
      let isStopped = false
      async function check(): Promise<void> {
        if (isChecking) return
        isChecking = true
        const current = await Promise.all(paths.map((path) => stat(path).then(versionOf, () => absent)))
        isChecking = false
        if (!isStopped && current.join() !== versions) renew()
      }
      const timer = setInterval(() => void check(), interval).unref()
      return () => {
        isStopped = true
        clearInterval(timer)
      }
    },
  }
}

/**
 * Reads the files of `tls` in a configuration, if it has any.
 *
 * @throws TypeError with one sentence when the files are not usable
 */
export function openTls(
  {
    configuration: { tls: files },
    directory,
  }: { readonly configuration: { readonly tls?: TlsFiles | undefined }; readonly directory: string },
  adapter: TlsAdapter,
): { readonly tls?: TlsSource; readonly content?: TlsContent } {
  if (files === undefined) return {}
  const tls = tlsSource(files, directory, adapter)
  return { tls, content: tls.read() }
}
