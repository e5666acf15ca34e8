import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { idProblem } from './client-draft.ts'
import { completed } from './completed.ts'
import type { ExportedFile, Finding, Imported } from './imported.ts'
import { createReader, type Reader } from './reader.ts'
import { knownOfRegistered, registeredClient } from './registered-client.ts'

/** Returns the clients of a file: a list, an object with one, or a client. */
function clientsIn({ path, content }: ExportedFile): readonly Members[] {
  const list = isJsonObject(content) ? (content.clients ?? content.items ?? [content]) : content
  if (Array.isArray(list) && list.every((client) => isJsonObject(client) && typeof client.client_id === 'string'))
    return list
  throw new TypeError(`${path}: must be a list of clients with a client_id`)
}

/** Imports clients with the members of RFC 7591. `more` reads those of one system. */
export function importRegistered(files: readonly ExportedFile[], more: (reader: Reader) => Members): Imported {
  const findings: Finding[] = []
  const clients = files.flatMap(clientsIn).flatMap((exported) => {
    const clientId = String(exported.client_id)
    const reader = createReader(exported, { entry: `client ${clientId}`, findings, known: knownOfRegistered })
    const problem = idProblem(clientId)
    if (problem !== undefined) {
      reader.note(undefined, `was left out: ${problem}`, 'sign-in')
      return []
    }
    return [registeredClient(clientId, reader, more)]
  })
  return completed({ clients }, findings, (name) => name)
}
