// `npm run release:chart -- DIRECTORY`: writes the Helm chart with the schema of its values into a new directory.
import { writeChart } from './release/chart.ts'

const [, , directory] = process.argv
if (directory === undefined) throw new Error('give the directory of the chart')
writeChart(directory)
process.stdout.write(`the chart grantry, in ${directory}\n`)
