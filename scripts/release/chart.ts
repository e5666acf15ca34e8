// Writes the Helm chart with `values.schema.json`, whose rules of `configuration` are those
// of the server. It is not in the repository: 130 kB that change with every option.
import { cpSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../packages/core/src/types.ts'
import { configurationJsonSchema } from '../configuration-schema.ts'

const object = (properties: Readonly<Record<string, JsonObject>>, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  additionalProperties: false,
  ...more,
})
const text: JsonObject = { type: 'string' }
const name: JsonObject = { type: 'string', minLength: 1 }
const flag: JsonObject = { type: 'boolean' }
const port: JsonObject = { type: 'integer', minimum: 1, maximum: 65535 }
const texts: JsonObject = { type: 'object', additionalProperties: text }
/** A part of a resource of Kubernetes, which its API checks. */
const anyObject: JsonObject = { type: 'object' }
const anyList: JsonObject = { type: 'array', items: anyObject }
/** A ConfigMap is no place for a secret. */
const reference = '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}'
const variable: JsonObject = { type: 'string', pattern: `^${reference}$` }

/**
 * A variable, or a URL whose password is one. Helm's expressions cannot look ahead: a password in the query has one of its
 * own.
 */
const withoutPassword: JsonObject = {
  type: 'string',
  pattern: `^(?:${reference}|[a-z][a-z+]*://(?:[^:@/?]*(?::${reference})?@)?[^@?]*(?:\\?[^@]*)?)$`,
  not: { pattern: '[?&](?:ssl)?password=[^$]' },
}

/** What the chart needs to know of the configuration, beside the rules of the server. */
const narrower: JsonObject = {
  properties: {
    // Pods share neither memory nor files.
    storage: {
      properties: {
        driver: { enum: ['postgresql', 'redis'] },
        url: withoutPassword,
        password: variable,
      },
    },
    keys: { properties: { encryptionSecret: variable } },
    // The template counts with them.
    shutdownDelay: { type: 'integer' },
    metrics: { anyOf: [{ const: false }, { type: 'object', properties: { port } }] },
  },
  required: ['storage'],
}

/** Returns the JSON Schema of the values. */
export function chartValuesSchema(): JsonObject {
  const { $schema, $id, ...configuration } = configurationJsonSchema()
  return {
    $schema: $schema ?? '',
    title: 'The values of the chart grantry',
    ...object(
      {
        // Helm adds it.
        global: anyObject,
        image: object({
          repository: name,
          tag: text,
          digest: { type: 'string', pattern: '^(?:sha256:[0-9a-f]{64})?$' },
          pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
          pullSecrets: { type: 'array', items: object({ name }, { required: ['name'] }) },
        }),
        replicas: { type: 'integer', minimum: 1 },
        configuration: { allOf: [configuration, narrower] },
        secrets: {
          type: 'object',
          propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
          additionalProperties: object({ name, key: name }, { required: ['name', 'key'] }),
        },
        service: object({ type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] }, port, annotations: texts }),
        resources: anyObject,
        disruptionBudget: object({ enabled: flag, maxUnavailable: { type: ['integer', 'string'] } }),
        networkPolicy: object({ enabled: flag, from: anyList, metricsFrom: anyList, egress: anyList }),
        serviceMonitor: object({ enabled: flag, interval: name, labels: texts }),
        podAnnotations: texts,
        nodeSelector: texts,
        tolerations: anyList,
        affinity: anyObject,
      },
      { required: ['configuration'] },
    ),
  }
}

/** Writes the chart. @param directory must not exist, or is replaced */
export function writeChart(directory: string): void {
  cpSync(fileURLToPath(new URL('../../deploy/helm/grantry', import.meta.url)), directory, { recursive: true })
  writeFileSync(`${directory}/values.schema.json`, `${JSON.stringify(chartValuesSchema(), undefined, 2)}\n`)
}
