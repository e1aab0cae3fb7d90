import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

const Labels = z.record(z.string(), z.string());
const Metadata = z.strictObject({ name: z.string(), labels: Labels });
const Selector = z.strictObject({ matchLabels: Labels });
const named = z.strictObject({ name: z.string() });

const Probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  periodSeconds: z.number().optional(),
  timeoutSeconds: z.number().optional(),
  failureThreshold: z.number().optional(),
});

const Container = z.strictObject({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.number() })).default([]),
  envFrom: z.array(
    z.union([
      z.strictObject({ configMapRef: named }),
      z.strictObject({ secretRef: z.strictObject({ name: z.string(), optional: z.boolean().optional() }) }),
    ]),
  ),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  lifecycle: z
    .strictObject({
      preStop: z.strictObject({ exec: z.strictObject({ command: z.array(z.string()) }) }),
    })
    .optional(),
  startupProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: z.string(), memory: z.string() }),
    limits: z.strictObject({ memory: z.string() }),
  }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.boolean(),
    readOnlyRootFilesystem: z.boolean(),
    capabilities: z.strictObject({ drop: z.array(z.string()), add: z.array(z.string()).optional() }),
    privileged: z.boolean().optional(),
  }),
  volumeMounts: z.array(z.strictObject({ name: z.string(), mountPath: z.string() })),
});

const Pod = z.strictObject({
  restartPolicy: z.string().optional(),
  automountServiceAccountToken: z.boolean().optional(),
  enableServiceLinks: z.boolean(),
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.strictObject({
    runAsNonRoot: z.boolean(),
    runAsUser: z.number(),
    runAsGroup: z.number(),
    fsGroup: z.number(),
    seccompProfile: z.strictObject({ type: z.string() }),
  }),
  topologySpreadConstraints: z
    .array(
      z.strictObject({
        maxSkew: z.number(),
        topologyKey: z.string(),
        whenUnsatisfiable: z.string(),
        labelSelector: Selector,
      }),
    )
    .default([]),
  containers: z.array(Container),
  volumes: z.array(
    z.strictObject({
      name: z.string(),
      emptyDir: z.strictObject({ sizeLimit: z.string().optional() }),
    }),
  ),
});

const template = z.strictObject({ metadata: z.strictObject({ labels: Labels }), spec: Pod });
const PortOf = z.strictObject({ name: z.string() });

/** The part of Kubernetes's format that the manifests use: a member that is spelled wrong is a fault. */
const Manifest = z.discriminatedUnion('kind', [
  z.strictObject({
    apiVersion: z.literal('apps/v1'),
    kind: z.literal('Deployment'),
    metadata: Metadata,
    spec: z.strictObject({
      replicas: z.number().optional(),
      selector: Selector,
      strategy: z.strictObject({
        rollingUpdate: z.strictObject({ maxSurge: z.number(), maxUnavailable: z.number() }),
      }),
      template,
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('batch/v1'),
    kind: z.literal('Job'),
    metadata: Metadata,
    spec: z.strictObject({ backoffLimit: z.number(), ttlSecondsAfterFinished: z.number(), template }),
  }),
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Service'),
    metadata: Metadata,
    spec: z.strictObject({
      selector: Labels,
      ports: z.array(z.strictObject({ name: z.string(), port: z.number(), targetPort: z.string() })),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('ConfigMap'),
    metadata: Metadata,
    data: z.record(z.string(), z.string()),
  }),
  z.strictObject({
    apiVersion: z.literal('autoscaling/v2'),
    kind: z.literal('HorizontalPodAutoscaler'),
    metadata: Metadata,
    spec: z.strictObject({
      scaleTargetRef: z.strictObject({
        apiVersion: z.literal('apps/v1'),
        kind: z.literal('Deployment'),
        name: z.string(),
      }),
      minReplicas: z.number(),
      maxReplicas: z.number(),
      metrics: z.array(
        z.strictObject({
          type: z.literal('Resource'),
          resource: z.strictObject({
            name: z.literal('cpu'),
            target: z.strictObject({ type: z.literal('Utilization'), averageUtilization: z.number() }),
          }),
        }),
      ),
      behavior: z.strictObject({
        scaleDown: z.strictObject({ stabilizationWindowSeconds: z.number() }),
      }),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('policy/v1'),
    kind: z.literal('PodDisruptionBudget'),
    metadata: Metadata,
    spec: z.strictObject({
      maxUnavailable: z.number(),
      unhealthyPodEvictionPolicy: z.string().optional(),
      selector: Selector,
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('networking.k8s.io/v1'),
    kind: z.literal('NetworkPolicy'),
    metadata: Metadata,
    spec: z.strictObject({
      podSelector: Selector,
      policyTypes: z.array(z.string()),
      ingress: z.array(z.strictObject({ ports: z.array(z.strictObject({ port: z.string() })) })),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('networking.k8s.io/v1'),
    kind: z.literal('Ingress'),
    metadata: Metadata,
    spec: z.strictObject({
      ingressClassName: z.string(),
      tls: z.array(z.strictObject({ hosts: z.array(z.string()), secretName: z.string() })),
      rules: z.array(
        z.strictObject({
          host: z.string(),
          http: z.strictObject({
            paths: z.array(
              z.strictObject({
                path: z.string(),
                pathType: z.literal('Prefix'),
                backend: z.strictObject({ service: z.strictObject({ name: z.string(), port: PortOf }) }),
              }),
            ),
          }),
        }),
      ),
    }),
  }),
]);

export type Manifest = z.infer<typeof Manifest>;
export type Kind = Manifest['kind'];
export type Of<K extends Kind> = Extract<Manifest, { kind: K }>;
export type PodSpec = z.infer<typeof Pod>;

/** The manifests in a text with several documents. Throws for a member that is not in the format. */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return Manifest.parse(document.toJS());
  });
}
