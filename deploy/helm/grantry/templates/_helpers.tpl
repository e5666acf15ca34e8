{{- define "grantry.labels" -}}
{{ include "grantry.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "grantry.selector" -}}
app.kubernetes.io/name: grantry
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "grantry.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The end of open requests takes the server 10 seconds after shutdownDelay, and it needs some to exit. */}}
{{- define "grantry.gracePeriod" -}}
{{ add (.Values.configuration.shutdownDelay | default 0) 10 10 }}
{{- end }}
