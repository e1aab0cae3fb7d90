import { servedPaths, type Variables } from './kit-settings.js';
import type { Kind, Manifest, Of } from './manifests.js';
import { faultsOfPod, type Secrets } from './pod-faults.js';

/** A path of each kind of request that `ingest` takes, and of some that it doesn't. */
const ROUTES: Readonly<Record<string, string>> = {
  '/api/v1/events': 'daybook-ingest',
  '/api/v1/events/heartbeat': 'daybook-ingest',
  '/api/v1/hooks': 'daybook-ingest',
  '/otlp/v1/logs': 'daybook-ingest',
  '/otlp/v1/metrics': 'daybook-ingest',
  '/otlp/v1/traces': 'daybook-ingest',
  '/api/v0/computers': 'daybook-api',
  '/api/v1/analytics/summary': 'daybook-api',
  '/api/v1/sql': 'daybook-api',
};

/** Where requests go that openapi.json doesn't list: the sockets of computers, and the page. */
const UNLISTED = { '/api/v0/relay/agent': 'daybook-api', '/': 'daybook-api' };

/** The faults of manifests that are applied together, as sentences. */
export function faultsOfManifests(all: readonly Manifest[], secrets: Secrets): string[] {
  const of = <K extends Kind>(kind: K) => all.filter((one): one is Of<K> => one.kind === kind);
  const deployments = of('Deployment');
  const pods = [...deployments, ...of('Job')].map(({ kind, metadata, spec }) => ({
    kind,
    name: metadata.name,
    labels: spec.template.metadata.labels,
    spec: spec.template.spec,
  }));
  const chosenBy = (labels: Variables) =>
    pods.filter((pod) => Object.entries(labels).every(([name, value]) => pod.labels[name] === value));
  const autoscalers = of('HorizontalPodAutoscaler');
  const scaled = (name: string) => autoscalers.find(({ spec }) => spec.scaleTargetRef.name === name);
  const configs = Object.fromEntries(of('ConfigMap').map(({ metadata, data }) => [metadata.name, data]));
  const faults = new Map<string, string[]>();
  const add = (of: string, ...found: string[]) => void faults.set(of, [...(faults.get(of) ?? []), ...found]);

  const names = all.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  for (const name of names)
    if (names.indexOf(name) !== names.lastIndexOf(name)) add(name, 'It is there twice.');
  for (const pod of pods) add(pod.name, ...faultsOfPod(pod, configs, secrets));
  for (const { metadata, spec } of deployments) {
    const chosen = chosenBy(spec.selector.matchLabels);
    if (chosen.length !== 1 || chosen[0]?.name !== metadata.name)
      add(metadata.name, 'Its selector chooses other pods, or none.');
    if ((spec.replicas === undefined) !== (scaled(metadata.name) !== undefined))
      add(metadata.name, 'Either it or an autoscaler says how many pods there are.');
    const least = spec.replicas ?? scaled(metadata.name)?.spec.minReplicas ?? 0;
    if (least < 2) add(metadata.name, 'It has fewer than two pods.');
    if (
      !of('PodDisruptionBudget').some((budget) =>
        chosenBy(budget.spec.selector.matchLabels).some(({ name }) => name === metadata.name),
      )
    )
      add(metadata.name, 'It has no PodDisruptionBudget.');
    if (spec.strategy.rollingUpdate.maxUnavailable !== 0)
      add(metadata.name, 'An update takes pods away before there are others.');
    for (const { labelSelector } of spec.template.spec.topologySpreadConstraints)
      if (
        chosenBy(labelSelector.matchLabels)
          .map(({ name }) => name)
          .join() !== metadata.name
      )
        add(metadata.name, 'It is spread beside other pods.');
    if (spec.template.spec.topologySpreadConstraints.length === 0) add(metadata.name, 'It is not spread.');
  }
  for (const { metadata, spec } of of('PodDisruptionBudget')) {
    if (chosenBy(spec.selector.matchLabels).length !== 1)
      add(metadata.name, 'It is for no Deployment, or for several.');
    if (spec.maxUnavailable < 1 || spec.unhealthyPodEvictionPolicy !== 'AlwaysAllow')
      add(metadata.name, 'It keeps machines from being emptied.');
  }
  for (const { metadata, spec } of autoscalers) {
    if (!deployments.some((one) => one.metadata.name === spec.scaleTargetRef.name))
      add(metadata.name, 'Its Deployment is not there.');
    if (spec.maxReplicas <= spec.minReplicas) add(metadata.name, 'It has nothing to scale.');
  }
  for (const { metadata, spec } of of('Service')) {
    const [pod, ...others] = chosenBy(spec.selector);
    if (pod === undefined || others.length > 0)
      add(metadata.name, 'It is for no Deployment, or for several.');
    const ports = pod?.spec.containers.flatMap((container) => container.ports.map(({ name }) => name));
    for (const { targetPort } of spec.ports)
      if (ports?.includes(targetPort) !== true) add(metadata.name, `Its pods have no port ${targetPort}.`);
  }
  for (const { metadata, spec } of of('NetworkPolicy')) {
    if (chosenBy(spec.podSelector.matchLabels).length !== pods.length)
      add(metadata.name, 'It leaves pods out.');
    for (const { port } of spec.ingress.flatMap(({ ports }) => ports))
      if (
        !pods.some((pod) => pod.spec.containers.some(({ ports }) => ports.some(({ name }) => name === port)))
      )
        add(metadata.name, `No pod has a port ${port}.`);
  }
  for (const ingress of of('Ingress')) add(ingress.metadata.name, ...faultsOfIngress(ingress, of('Service')));
  const images = new Set(pods.flatMap(({ spec }) => spec.containers.map(({ image }) => image)));
  if (images.size > 1) add('all', 'They have several images.');
  return [...faults].flatMap(([name, found]) => found.map((fault) => `${name}: ${fault}`));
}

function faultsOfIngress({ spec }: Of<'Ingress'>, services: readonly Of<'Service'>[]): string[] {
  const faults: string[] = [];
  for (const { host, http } of spec.rules) {
    if (!spec.tls.some(({ hosts }) => hosts.includes(host))) faults.push(`${host} has no certificate.`);
    for (const { backend } of http.paths) {
      const { name, port } = backend.service;
      const service = services.find(({ metadata }) => metadata.name === name);
      if (service === undefined) faults.push(`There is no Service ${name}.`);
      else if (!service.spec.ports.some((one) => one.name === port.name))
        faults.push(`The Service ${name} has no port ${port.name}.`);
    }
    // The longest of the paths that fit decides.
    const goesTo = (path: string) =>
      http.paths
        .filter((one) => one.path === '/' || path === one.path || path.startsWith(`${one.path}/`))
        .toSorted((one, other) => other.path.length - one.path.length)[0]?.backend.service.name;
    for (const [path, service] of Object.entries({ ...ROUTES, ...UNLISTED }))
      if (goesTo(path) !== service) faults.push(`${path} goes to ${goesTo(path)}.`);
    for (const path of Object.keys(ROUTES))
      if (!servedPaths().includes(path)) faults.push(`The service has no ${path}.`);
  }
  return faults;
}
